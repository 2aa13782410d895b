-- compatible: an index alone.
-- How many posts of a status a campaign has is counted where they stand together; posts of a campaign by age have an index of their own.
drop index publishing.posts_by_campaign;
create index posts_by_campaign on publishing.posts (campaign_id, status) where campaign_id is not null;
