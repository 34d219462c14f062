create table if not exists loci.migration (
    number int not null constraint migration_pk primary key,
    applied_at timestamptz not null default now()
)
