select
    case
        when not pg_is_in_recovery() then 0
        when
            exists (select 1 from pg_stat_wal_receiver)
            and pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
            then 0
        else
            (extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint
    end
