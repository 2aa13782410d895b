-- compatible: a program that does not know favourites, shared links, announcements and settings shows none.
-- Apps and addresses that a person wants at hand, in one context.
create table launcher.favourites (
  id uuid primary key,
  organization_id uuid,
  user_id uuid not null,
  app text,
  title text check (length(title) between 1 and 120),
  url text check (length(url) <= 2000),
  position integer not null check (position >= 0),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint a_favourite_is_an_app_or_an_address check ((app is null) = (url is not null) and (url is null) = (title is null))
);
create unique index one_favourite_an_app on launcher.favourites (organization_id, user_id, app) nulls not distinct where app is not null;
create index favourites_of_person on launcher.favourites (user_id, organization_id, position);

-- Addresses that an organization's managers give to everybody in it.
create table launcher.shared_links (
  id uuid primary key,
  organization_id uuid not null,
  title text not null check (length(title) between 1 and 120),
  url text not null check (length(url) <= 2000),
  icon text check (length(icon) <= 2000),
  position integer not null check (position >= 0),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
create index shared_links_of_organization on launcher.shared_links (organization_id, position);

-- What an organization's managers, or the platform's, have people read for a while.
create table launcher.announcements (
  id uuid primary key,
  -- Null: the platform's, for everybody.
  organization_id uuid,
  audience text not null check (audience in ('ORGANIZATION', 'MANAGERS', 'PLATFORM')),
  severity text not null check (severity in ('INFO', 'WARNING', 'CRITICAL')),
  title text not null check (length(title) between 1 and 120),
  body text not null check (length(body) between 1 and 2000),
  url text check (length(url) <= 2000),
  starts_at timestamptz(3) not null,
  ends_at timestamptz(3),
  -- A deleted one is kept for the streams that say so.
  deleted_at timestamptz(3),
  -- When it begins or ends next: the moment at which its readers are notified.
  next_at timestamptz(3),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  constraint an_announcement_is_somebodys check ((audience = 'PLATFORM') = (organization_id is null)),
  constraint an_announcement_ends_after_it_begins check (ends_at > starts_at or deleted_at is not null)
);
create index announcements_of_organization on launcher.announcements (organization_id, starts_at desc, id desc);
create index announcements_that_begin_or_end on launcher.announcements (next_at) where next_at is not null;
create index announcements_that_are_over on launcher.announcements (ends_at) where ends_at is not null;

-- Who does not want to see an announcement any more.
create table launcher.announcement_dismissals (
  announcement_id uuid not null references launcher.announcements (id) on delete cascade,
  user_id uuid not null,
  at timestamptz(3) not null,
  primary key (announcement_id, user_id)
);

-- How the launcher looks for a person; the id is the person's.
create table launcher.person_settings (
  id uuid primary key,
  theme text not null check (theme in ('SYSTEM', 'LIGHT', 'DARK')),
  locale text,
  time_zone text,
  start_page text check (length(start_page) <= 200),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);

-- What an organization sets for everybody in it; the id is the organization's.
create table launcher.organization_settings (
  id uuid primary key,
  default_start_page text check (length(default_start_page) <= 200),
  support_url text check (length(support_url) <= 2000),
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null
);
