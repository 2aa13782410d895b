import { days, quota, quotaTable } from './readers.ts'
import { type Start, setting } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** How much one caller may make. */
export const quotas = {
  organizationsADay: setting('ORGANIZATIONS_PER_DAY', quota, {
    fallback: 50,
    by: subgraphs,
    does: 'How many organizations one person may create in 24 hours.',
  }),
  organizationsAPerson: setting('ORGANIZATIONS_PER_PERSON', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'How many organizations one person may create in all.',
  }),
  membersAnOrganization: setting('MEMBERS_PER_ORGANIZATION', quota, { fallback: 1_000, by: subgraphs, does: 'How many members an organization may have.' }),
  invitationsADay: setting('INVITATIONS_PER_DAY', quota, {
    fallback: 50,
    by: subgraphs,
    does: 'How many invitations an organization, and one person in all organizations together, may make in 24 hours.',
  }),
  pendingInvitations: setting('INVITATIONS_PENDING', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'How many invitations of an organization may wait for an answer.',
  }),
  additionsAnHour: setting('MEMBER_ADDITIONS_PER_HOUR', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'How many addresses one person may try with `addMember` in an hour, found or not.',
  }),
  keysAnOrganization: setting('API_KEYS_PER_ORGANIZATION', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'How many keys of an organization may stand (neither revoked nor expired).',
  }),
  keysADay: setting('API_KEYS_PER_DAY', quota, { fallback: 500, by: subgraphs, does: 'How many keys of an organization may be created in 24 hours.' }),
  brandsAnOrganization: setting('BRANDS_PER_ORGANIZATION', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'How many brands an organization may have, archived ones included.',
  }),
  postsADay: setting('POSTS_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'How many posts one caller (a person, a key) may write in 24 hours; deleted ones do not count.',
  }),
  mediaABrand: setting('MEDIA_PER_BRAND', quota, {
    fallback: 20_000,
    by: subgraphs,
    does: 'How many pictures and films a brand may have in its library.',
  }),
  uploadMiBAnOrganization: setting('UPLOAD_MIB_PER_ORGANIZATION', quota, {
    fallback: 10_240,
    by: subgraphs,
    does: 'How many MiB uploads in parts that an organization has not finished may have together, by the lengths that they were begun with. One that is finished, ended or has rested for a day does not count.',
  }),
  ordersADay: setting('ORDERS_PER_DAY', quota, {
    fallback: 20_000,
    by: subgraphs,
    does: 'How many orders one caller (a person, a key) may write in 24 hours.',
  }),
  credentialsAnOrganization: setting('CREDENTIALS_PER_ORGANIZATION', quota, {
    fallback: 200,
    by: subgraphs,
    does: 'How many credentials of providers an organization may have.',
  }),
  youtubeQuota: setting('YOUTUBE_QUOTA', quotaTable, {
    fallback: null,
    without: '`2026`',
    by: subgraphs,
    does: 'How YouTube counts calls: `2026` (100 uploads, 100 searches and 10,000 units of everything else a day), `classic` (10,000 units in one bucket), or a file of JSON, `{"buckets":{"default":10000},"calls":{"list":{"bucket":"default","units":1},"write":…,"unknown":…,"videos.insert":…}}`.',
  }),
  spendLimitsAnOrganization: setting('SPEND_LIMITS_PER_ORGANIZATION', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'How many spend limits an organization may have.',
  }),
  mailsFromPlatformADay: setting('PLATFORM_MAIL_RECIPIENTS_PER_DAY', quota, {
    fallback: 1_000,
    by: subgraphs,
    does: 'How many recipients people and keys of one organization may write to in 24 hours in the name of the platform; at most 20 times to the same one. Services, and who sends from a domain of their own, are not counted.',
  }),
  profilesADay: setting('PERSON_PROFILES_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'How many person profiles one person may write in 24 hours.',
  }),
  sourcesADay: setting('PROFILE_SOURCES_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'How many sources of person profiles, of 200,000 characters at most, one person may add in 24 hours.',
  }),
  snapshotsADay: setting('STYLE_SNAPSHOTS_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'How many snapshots of person profiles one person may take in 24 hours.',
  }),
}

/** For how many days records are kept. */
export const retention = {
  auditDays: setting('AUDIT_RETENTION_DAYS', days(1), {
    fallback: 400,
    by: subgraphs,
    does: 'For how many days identity, publishing, agents and providers keep their records of who did what; the database lets go of identity’s in no other way. Sessions and one-time links go a day after they ended, idempotency keys after a week, those of payments after 30 days.',
  }),
  attemptDays: setting('ATTEMPT_RETENTION_DAYS', days(8), {
    fallback: 90,
    without: '`90`, at least `8`',
    by: subgraphs,
    does: 'For how many days attempts to deliver are kept; those of posts whose outcome is open stay. Authorizations that were begun go a day after they ended.',
  }),
}
