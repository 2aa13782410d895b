-- compatible: a program that does not know connectors never asks for them.
create table agents.connectors (
  id uuid primary key,
  organization_id uuid not null,
  name text not null check (length(name) between 1 and 200),
  kind text not null check (kind in ('MCP', 'MOBILE_APP_CATALOGUE', 'PLATFORM')),
  -- Whose it is at the settlement and policy service; null for ours.
  counterparty text check (length(counterparty) between 1 and 200),
  base_url text,
  -- Headers with their values, sealed; null for none.
  headers text,
  status text not null default 'UNTESTED' check (status in ('UNTESTED', 'HEALTHY', 'FAILING', 'DISABLED')),
  message text,
  checked_at timestamptz(3),
  tools jsonb not null default '[]' check (octet_length(tools::text) <= 262144),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index connectors_by_age on agents.connectors (organization_id, created_at, id);
-- The developer platform and our own platform are one connector each.
create unique index one_connector_of_a_kind on agents.connectors (organization_id, kind) where kind <> 'MCP';
create index connectors_by_key on agents.connectors (split_part(headers, '.', 2)) where headers is not null;
