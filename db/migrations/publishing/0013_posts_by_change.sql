-- compatible: an index alone.
-- Whoever follows a brand's posts is told of what changed within the last minute, should the news of it have been lost.
create index posts_by_change on publishing.posts (brand_id, updated_at);
