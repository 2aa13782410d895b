-- compatible: an index.
-- Uploads under way, by brand: the bytes that those of an organization will have are added up whenever one begins.
create index media_uploads_under_way on publishing.media_uploads (brand_id, expires_at) where asset_id is null;
