-- compatible: a program that does not know the catalogue shows no apps.
-- The app catalogue: the platform's own services, and a copy of the developer platform's apps.
create table launcher.catalog_entries (
  id uuid primary key,
  app text not null unique check (app ~ '^[a-z0-9][a-z0-9-]{0,79}$'),
  origin text not null check (origin in ('PLATFORM', 'STORE', 'CUSTOM')),
  -- The organization that a custom app belongs to.
  organization_id uuid,
  title text not null,
  summary text,
  description text,
  category text,
  publisher text,
  icon_url text,
  kind text not null check (kind in ('APPLICATION', 'TECHNICAL')),
  lifecycle text not null check (lifecycle in ('ACTIVE', 'DEPRECATED', 'RETIRED')),
  contexts text[] not null,
  capabilities text[] not null,
  widget_audience text check (widget_audience in ('ORGANIZATION', 'USER')),
  widget_url text,
  keys_url text,
  launch_url text,
  initiate_login_uri text,
  mobile_apps jsonb not null,
  screenshots text[] not null,
  release text,
  maintenance_until timestamptz(3),
  -- Hash of what the source says, so that an unchanged entry is not written.
  digest text not null,
  -- When the source no longer lists it; its installations stay without an entry until it is back.
  removed_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  search tsvector generated always as (
    setweight(to_tsvector('simple', title), 'A') || setweight(to_tsvector('simple', coalesce(summary, '')), 'B')
      || setweight(to_tsvector('simple', coalesce(description, '')), 'D')) stored,
  letters text generated always as (lower(title || ' ' || coalesce(summary, ''))) stored,
  constraint a_custom_app_is_somebodys check ((origin = 'CUSTOM') = (organization_id is not null))
);
create index catalog_entries_by_title on launcher.catalog_entries (title, id);
create index catalog_entries_by_words on launcher.catalog_entries using gin (search);

-- Similar words: the extension comes with PostgreSQL. Where it may not be made, words with typing errors find nothing.
do $$
declare
  trigrams text;
begin
  create extension if not exists pg_trgm with schema launcher;
  select quote_ident(n.nspname) into trigrams from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_trgm';
  execute format('create index catalog_entries_by_letters on launcher.catalog_entries using gin (letters %s.gin_trgm_ops)', trigrams);
  execute format('create function launcher.word_likeness(word text, passage text) returns real language sql immutable parallel safe
    as ''select %s.word_similarity(word, passage)''', trigrams);
  execute format('create function launcher.has_like_word(word text, passage text) returns boolean language sql immutable parallel safe
    as ''select word operator(%s.<%%) passage''', trigrams);
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise warning 'pg_trgm cannot be installed: searches of the catalogue find no similar words';
  create function launcher.word_likeness(word text, passage text) returns real language sql immutable as 'select 0::real';
  create function launcher.has_like_word(word text, passage text) returns boolean language sql immutable as 'select false';
end $$;

-- Apps in use: by an organization, or by a person in personal context.
create table launcher.installations (
  id uuid primary key,
  app text not null,
  organization_id uuid,
  user_id uuid,
  installed_by uuid,
  installed_at timestamptz(3) not null,
  removed_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint an_installation_is_somebodys check ((organization_id is null) <> (user_id is null))
);
create unique index one_installation_an_organization on launcher.installations (organization_id, app) where removed_at is null and organization_id is not null;
create unique index one_installation_a_person on launcher.installations (user_id, app) where removed_at is null and user_id is not null;
create index installations_of_organization_changed on launcher.installations (organization_id, updated_at);
create index installations_of_person_changed on launcher.installations (user_id, updated_at);

-- Who asked for an app that the organization has not installed.
create table launcher.access_requests (
  id uuid primary key,
  organization_id uuid not null,
  app text not null,
  reason text check (length(reason) <= 500),
  status text not null check (status in ('PENDING', 'APPROVED', 'DECLINED', 'WITHDRAWN')),
  requested_by uuid,
  decided_by uuid,
  comment text check (length(comment) <= 500),
  decided_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint what_is_pending_is_not_decided check ((status = 'PENDING') = (decided_at is null))
);
create unique index one_pending_request on launcher.access_requests (organization_id, created_by, app) where status = 'PENDING';
create index access_requests_newest_first on launcher.access_requests (organization_id, created_at desc, id desc);

-- The order of a dashboard: a person's own in a context, or what an organization begins with (without a person).
create table launcher.dashboard_layouts (
  id uuid primary key,
  organization_id uuid,
  user_id uuid,
  items jsonb not null,
  boards jsonb not null,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint a_layout_is_somebodys check (organization_id is not null or user_id is not null)
);
create unique index one_layout on launcher.dashboard_layouts (organization_id, user_id) nulls not distinct;
