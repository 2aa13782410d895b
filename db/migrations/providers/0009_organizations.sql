-- compatible: a program that does not know how organizations use the gateway keeps no prompts, and asks for nothing else of it.
-- How an organization uses the gateway: one record each, made at the latest by its first call.
create table providers.organizations (
  id uuid primary key,
  organization_id uuid not null,
  status text not null default 'ACTIVE' check (status in ('ACTIVE', 'SUSPENDED')),
  prompt_storage text not null default 'OFF' check (prompt_storage in ('OFF', 'REDACTED', 'FULL')),
  retention_days integer not null default 30 check (retention_days between 1 and 400),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create unique index one_record_of_an_organization on providers.organizations (organization_id);

-- Calls are listed by what callers filter by.
create index calls_of_app on providers.calls (organization_id, app_id, created_at, id);
create index calls_of_person on providers.calls (organization_id, user_id, created_at, id) where user_id is not null;
create index calls_that_did_not_succeed on providers.calls (organization_id, status, created_at, id) where status <> 'SUCCEEDED';

-- The record is read by organization, the newest first.
create index audit_entries_of_organization on providers.audit_entries (tenant_id, at, id);
