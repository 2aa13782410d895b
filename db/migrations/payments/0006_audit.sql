-- compatible: a program of before writes entries without the new columns, of orders under their merchant, where the log does not list them.
alter table payments.audit_entries
  -- The person who acted, or for whom a service or a client did.
  add column user_id uuid,
  add column app_id text,
  add column request_id text;
update payments.audit_entries e set tenant_id = m.organization_id from payments.merchants m where m.id = e.tenant_id;
update payments.audit_entries set user_id = substr(actor, 6)::uuid
  where actor ~ '^user:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';
create index audit_entries_of_organization on payments.audit_entries (tenant_id, at, id);
create index audit_entries_of_subject on payments.audit_entries (tenant_id, subject_id, at, id);
create index audit_entries_of_action on payments.audit_entries (tenant_id, action, at, id);
create index audit_entries_of_noun on payments.audit_entries (tenant_id, split_part(action, '.', 1), at, id);

-- Entries are kept for ever. Only the removal of a demo, which says so in a setting of its transaction, takes them along with their organization.
create function payments.keep_audit() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('payments.audit_removal', true) = 'on' then return old; end if;
  raise exception 'entries of the audit are neither changed nor removed' using errcode = 'insufficient_privilege';
end
$$;
create trigger keep_audit before update or delete on payments.audit_entries for each row execute function payments.keep_audit();
create trigger keep_whole_audit before truncate on payments.audit_entries for each statement execute function payments.keep_audit();
