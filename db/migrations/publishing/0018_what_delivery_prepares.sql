-- What a network works on before a post can be published, such as a film that it converts: what was left there, of which content and
-- since when; and when the network is asked again.
alter table publishing.posts
  add column prepared jsonb check (jsonb_typeof(prepared) = 'object'),
  add column prepare_at timestamptz(3);
-- Comments that are to follow a published post: the few whose job was lost are found by it.
create index posts_with_a_comment_to_send on publishing.posts (published_at) where first_comment_status = 'PENDING' and status = 'PUBLISHED';
