-- compatible: a program that does not know onboardings takes nobody there, and columns of searches fill themselves.
-- Onboardings that organizations have completed; the id is the organization's.
create table launcher.organization_onboardings (
  id uuid primary key,
  completed_at timestamptz(3) not null,
  apps text[] not null,
  team_size integer check (team_size > 0),
  use_case text check (length(use_case) between 1 and 500),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);

-- What searches of the launcher compare: words, and letters for typing errors.
alter table launcher.action_items
  add column search tsvector not null generated always as (to_tsvector('simple', title || ' ' || coalesce(body, ''))) stored,
  add column letters text not null generated always as (lower(title)) stored;
alter table launcher.notifications
  add column search tsvector not null generated always as (to_tsvector('simple', title || ' ' || coalesce(body, ''))) stored,
  add column letters text not null generated always as (lower(title)) stored;
alter table launcher.workflows
  add column search tsvector not null generated always as (to_tsvector('simple', name)) stored,
  add column letters text not null generated always as (lower(name)) stored;
create index action_items_by_words on launcher.action_items using gin (search) where status = 'OPEN';
create index notifications_by_words on launcher.notifications using gin (search) where archived_at is null;
create index workflows_by_words on launcher.workflows using gin (search);
do $$
declare trigrams text;
begin
  select quote_ident(n.nspname) into trigrams from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  if trigrams is not null then
    execute format('create index action_items_by_letters on launcher.action_items using gin (letters %s.gin_trgm_ops) where status = ''OPEN''', trigrams);
    execute format('create index notifications_by_letters on launcher.notifications using gin (letters %s.gin_trgm_ops) where archived_at is null', trigrams);
    execute format('create index workflows_by_letters on launcher.workflows using gin (letters %s.gin_trgm_ops)', trigrams);
  end if;
end $$;
