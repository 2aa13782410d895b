-- compatible: programs of before send nothing to video networks, and never ask who looks after the platform.
-- What the platform has used of a bucket of a video network's quota on a day of the Pacific coast.
create table providers.video_quota_days (
  bucket text not null check (length(bucket) between 1 and 100),
  day date not null,
  used integer not null check (used >= 0),
  primary key (bucket, day)
);
create index video_quota_days_by_age on providers.video_quota_days (day);

-- Who has used it.
create table providers.video_quota_uses (
  bucket text not null,
  day date not null,
  organization_id uuid not null,
  app_id text not null,
  used integer not null check (used >= 0),
  primary key (bucket, day, organization_id, app_id)
);
create index video_quota_uses_by_age on providers.video_quota_uses (day);

-- How much of a bucket an organization may use a day.
create table providers.video_quota_caps (
  organization_id uuid not null,
  bucket text not null,
  daily_limit integer not null check (daily_limit >= 0),
  updated_at timestamptz(3) not null,
  updated_by text not null,
  primary key (organization_id, bucket)
);

-- The organization that looks after the platform: what concerns its own credentials and limits is told there.
create table providers.platform (
  one boolean primary key default true check (one),
  organization_id uuid not null
);
