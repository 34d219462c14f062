-- Roles belong to all databases of a server, so somebody in another one may be as far as this.
do $$
begin
    create role loci_app nologin nosuperuser nobypassrls;
exception
    when duplicate_object or unique_violation then null;
end
$$
