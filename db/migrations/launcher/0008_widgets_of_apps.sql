-- compatible: a program that does not know widgets of store apps reads none.
-- Good payloads of apps' widgets, by sharing key: fresh for a while, then what is shown while the app does not answer.
create table launcher.widget_payloads (
  key text primary key,
  entry_id uuid not null,
  organization_id uuid,
  user_id uuid,
  -- As the app gave it, with its order of members: what looks the same is the same.
  payload json not null,
  read_at timestamptz(3) not null,
  -- Until when it is answered without asking the app.
  fresh_until timestamptz(3) not null,
  -- When the app last said that something changed: what was asked before is not fresh.
  dropped_at timestamptz(3)
);
create index widget_payloads_of_entry on launcher.widget_payloads (entry_id, organization_id, user_id);
create index widget_payloads_by_age on launcher.widget_payloads (read_at);

-- Secrets that all processes of the launcher share, sealed.
create table launcher.secrets (
  name text primary key,
  value text not null
);
