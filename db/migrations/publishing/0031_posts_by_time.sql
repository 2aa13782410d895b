-- compatible: an index alone.
-- Posts that are set for a time, whatever became of them.
create index posts_by_time on publishing.posts (brand_id, scheduled_at) where scheduled_at is not null;
