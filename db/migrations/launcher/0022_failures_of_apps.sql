-- compatible: a program that does not know it counts failures of apps in its own process.
-- How often an app failed in a row, as an organization, or a person in personal context, saw it.
create table launcher.app_failures (
  entry_id uuid not null,
  -- The organization, or the person.
  scope_id uuid not null,
  -- When each failure of the row happened; the last few.
  failed_at timestamptz(3)[] not null,
  -- Until when the app is not asked; null while it is.
  paused_until timestamptz(3),
  changed_at timestamptz(3) not null,
  primary key (entry_id, scope_id)
);
create index app_failures_paused on launcher.app_failures (entry_id, paused_until) where paused_until is not null;
create index app_failures_by_age on launcher.app_failures (changed_at);
