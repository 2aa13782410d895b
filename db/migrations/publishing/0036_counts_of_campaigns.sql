-- compatible: an index alone.
-- How many posts of a status a campaign has is counted where they stand together.
create index posts_of_campaigns_by_status on publishing.posts (campaign_id, status) where campaign_id is not null;
