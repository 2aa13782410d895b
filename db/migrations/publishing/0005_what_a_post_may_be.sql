-- What the rules of posts and attempts forbid, the tables refuse as well, whoever writes them.

update publishing.posts p set connection_id = null
  where connection_id is not null and not exists (select from publishing.connections c where c.brand_id = p.brand_id and c.id = p.connection_id);
update publishing.attempts a set connection_id = null
  where connection_id is not null and not exists (select from publishing.connections c where c.brand_id = a.brand_id and c.id = a.connection_id);
-- Posts were deleted without their attempts; an attempt of an account outlives its post.
update publishing.attempts a set post_id = null
  where post_id is not null and not exists (select from publishing.posts p where p.brand_id = a.brand_id and p.id = a.post_id);

alter table publishing.posts
  add constraint a_post_belongs_to_a_brand foreign key (brand_id) references publishing.brands (id),
  add constraint a_post_was_sent_by_a_connection foreign key (brand_id, connection_id) references publishing.connections (brand_id, id)
    on delete set null (connection_id),
  add constraint a_post_is_for_a_network
    check (platform in ('X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'YOUTUBE', 'TIKTOK')),
  add constraint counts_of_a_post check (position >= 1 and attempts >= 0 and waits >= 0 and version >= 1),
  add constraint only_a_published_post_is_on_the_network check (status = 'PUBLISHED' or (platform_post_id is null and published_at is null and permalink is null)),
  add constraint a_failure_has_code_message_and_time
    check ((failure_code is null) = (failure_message is null) and (failure_code is null) = (failed_at is null)),
  add constraint an_unknown_outcome_says_so check ((delivery_phase = 'UNKNOWN') = (failure_code is not null and failure_code = 'OUTCOME_UNKNOWN')),
  add constraint only_a_scheduled_post_is_sent check (delivery_phase not in ('CLAIMED', 'SENDING') or status = 'SCHEDULED'),
  add constraint a_claim_is_somebodys check ((claim_id is null) = (claim_until is null)),
  add constraint a_call_has_an_attempt check (delivery_phase not in ('SENDING', 'UNKNOWN') or attempts > 0),
  add constraint a_call_is_for_an_account check (delivery_phase <> 'SENDING' or external_account_id is not null),
  add constraint only_a_scheduled_post_waits check (waits_until is null or status = 'SCHEDULED'),
  add constraint waiting_has_begin_end_and_count
    check ((waits_until is null) = (waiting_since is null) and (waits_until is null) = (waits = 0)),
  add constraint an_idempotency_key_has_a_hash check ((idempotency_key is null) = (idempotency_hash is null));

alter table publishing.attempts
  add constraint an_attempt_belongs_to_a_post foreign key (brand_id, post_id) references publishing.posts (brand_id, id) on delete set null (post_id),
  add constraint an_attempt_belongs_to_a_brand foreign key (brand_id) references publishing.brands (id),
  add constraint an_attempt_is_made_by_a_connection foreign key (brand_id, connection_id) references publishing.connections (brand_id, id)
    on delete set null (connection_id),
  add constraint an_attempt_is_for_a_network
    check (platform in ('X', 'LINKEDIN', 'LINKEDIN_PAGE', 'FACEBOOK', 'INSTAGRAM', 'THREADS', 'YOUTUBE', 'TIKTOK')),
  add constraint counts_of_an_attempt check (number >= 1 and reconciled >= 0 and version >= 1),
  add constraint an_attempt_with_an_outcome_has_ended check ((outcome is null) = (finished_at is null)),
  add constraint only_what_was_delivered_has_a_network_id check ((outcome is not null and outcome = 'DELIVERED') = (platform_post_id is not null)),
  add constraint only_what_is_unknown_is_asked_about check (reconcile_at is null or (outcome is not null and outcome = 'UNKNOWN')),
  add constraint only_what_was_called_was_refused check (refusal is null or (outcome is not null and outcome <> 'NOT_SENT'));

-- A post has one attempt at a time of which nobody knows how it ended.
create unique index one_open_attempt_per_post on publishing.attempts (brand_id, post_id) where outcome is null or outcome = 'UNKNOWN';
create index posts_in_flight on publishing.posts (brand_id, platform) where delivery_phase in ('CLAIMED', 'SENDING');
