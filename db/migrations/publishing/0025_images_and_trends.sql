-- compatible: a program that does not know them never asks for them.
-- Pictures that models drew, and what is talked about.

create table publishing.generated_images (
  brand_id uuid not null references publishing.brands (id),
  id uuid not null,
  group_id uuid not null,
  post_id uuid,
  prompt text not null check (length(prompt) between 1 and 32000),
  model text not null,
  requested_model text,
  asset_id uuid,
  author_id uuid,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  primary key (brand_id, id),
  constraint a_drawn_picture_is_an_asset foreign key (brand_id, asset_id) references publishing.media_assets (brand_id, id) on delete set null (asset_id)
);
create index generated_images_by_id on publishing.generated_images (id);
create index generated_images_by_age on publishing.generated_images (brand_id, created_at, id);
create index generated_images_by_group on publishing.generated_images (group_id);
create index generated_images_by_asset on publishing.generated_images (brand_id, asset_id);

create table publishing.trend_reports (
  brand_id uuid primary key references publishing.brands (id),
  trends jsonb not null default '[]' check (jsonb_typeof(trends) = 'array'),
  fetched_at timestamptz(3),
  expires_at timestamptz(3),
  refreshed text[] not null default '{}' check (cardinality(refreshed) <= 100),
  constraint a_report_that_was_fetched_ends check ((fetched_at is null) = (expires_at is null))
);
