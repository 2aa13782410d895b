-- compatible: programs of before write entries without what is new, and remove none that is not old or of somebody who is gone; their own
-- removal of old entries fails and is tried again by the next program.
alter table identity.audit_entries
  -- The person who acted, or for whom a service or a key did.
  add column user_id uuid,
  -- The app: of a service, or of an OAuth client that acted for the person.
  add column app_id text,
  -- Whose account it concerns.
  add column person_id uuid,
  add column ip_address text,
  add column user_agent text,
  add column request_id text;
update identity.audit_entries set user_id = substr(actor, 6)::uuid
  where actor ~ '^user:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

create index audit_entries_of_tenant on identity.audit_entries (tenant_id, at, id);
create index audit_entries_of_action on identity.audit_entries (tenant_id, action, at, id);
create index audit_entries_of_user on identity.audit_entries (tenant_id, user_id, at, id);
create index audit_entries_of_person on identity.audit_entries (person_id, at, id) where person_id is not null;

-- What was written is not changed. What goes says by which right, in a setting of its own transaction: entries older than the moment in
-- `identity.audit_ends`, which retention sets, or, with `identity.audit_removal`, those of an organization or a person who is gone.
create function identity.keep_audit() returns trigger language plpgsql as $$
declare
  ends text := current_setting('identity.audit_ends', true);
begin
  if tg_op = 'DELETE' then
    if ends <> '' and old.at < ends::timestamptz then return old; end if;
    if current_setting('identity.audit_removal', true) = 'on' then
      if not exists (select from identity.organizations where id = old.tenant_id) and not exists (select from identity.users where id = old.tenant_id) then
        return old;
      end if;
      raise foreign_key_violation using message = 'entries of the audit stay as long as those whom they are of';
    end if;
  end if;
  raise exception 'entries of the audit are neither changed nor removed' using errcode = 'insufficient_privilege';
end
$$;
create trigger keep_audit before update or delete on identity.audit_entries for each row execute function identity.keep_audit();
create trigger keep_whole_audit before truncate on identity.audit_entries for each statement execute function identity.keep_audit();
