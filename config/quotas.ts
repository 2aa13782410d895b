import { days, microsOrUnlimited, quota, quotaTable } from './readers.ts'
import { type Start, setting } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** How much one caller may make. */
export const quotas = {
  organizationsADay: setting('ORGANIZATIONS_PER_DAY', quota, {
    fallback: 50,
    by: subgraphs,
    does: 'Organizations that one person may create in 24 hours.',
  }),
  organizationsAPerson: setting('ORGANIZATIONS_PER_PERSON', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'Organizations that one person may create in all.',
  }),
  membersAnOrganization: setting('MEMBERS_PER_ORGANIZATION', quota, { fallback: 1_000, by: subgraphs, does: 'Members of an organization.' }),
  invitationsADay: setting('INVITATIONS_PER_DAY', quota, {
    fallback: 50,
    by: subgraphs,
    does: 'Invitations of one organization, and of one person over all organizations, in 24 hours.',
  }),
  pendingInvitations: setting('INVITATIONS_PENDING', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'Unanswered invitations of an organization.',
  }),
  additionsAnHour: setting('MEMBER_ADDITIONS_PER_HOUR', quota, {
    fallback: 100,
    by: subgraphs,
    does: 'Addresses that one person may try with `addMember` in an hour, found or not.',
  }),
  keysAnOrganization: setting('API_KEYS_PER_ORGANIZATION', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'Valid API keys of an organization.',
  }),
  keysADay: setting('API_KEYS_PER_DAY', quota, { fallback: 500, by: subgraphs, does: 'API keys that an organization may create in 24 hours.' }),
  brandsAnOrganization: setting('BRANDS_PER_ORGANIZATION', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'Brands of an organization, archived ones included.',
  }),
  postsADay: setting('POSTS_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'Posts that one caller may create in 24 hours; deleted ones do not count.',
  }),
  mediaABrand: setting('MEDIA_PER_BRAND', quota, {
    fallback: 20_000,
    by: subgraphs,
    does: 'Media files of a brand.',
  }),
  uploadMiBAnOrganization: setting('UPLOAD_MIB_PER_ORGANIZATION', quota, {
    fallback: 10_240,
    by: subgraphs,
    does: 'MiB of unfinished uploads of an organization, by their announced lengths. Uploads idle for a day do not count.',
  }),
  ordersADay: setting('ORDERS_PER_DAY', quota, {
    fallback: 20_000,
    by: subgraphs,
    does: 'Orders that one caller may create in 24 hours.',
  }),
  credentialsAnOrganization: setting('CREDENTIALS_PER_ORGANIZATION', quota, {
    fallback: 200,
    by: subgraphs,
    does: 'Provider credentials of an organization.',
  }),
  youtubeQuota: setting('YOUTUBE_QUOTA', quotaTable, {
    fallback: null,
    without: '`2026`',
    by: subgraphs,
    does: 'How YouTube counts calls: `2026` (100 uploads, 100 searches and 10,000 other units a day), `classic` (10,000 units) or a JSON file, `{"buckets":{"default":10000},"calls":{"list":{"bucket":"default","units":1},"write":…,"unknown":…,"videos.insert":…}}`.',
  }),
  spendLimitsAnOrganization: setting('SPEND_LIMITS_PER_ORGANIZATION', quota, {
    fallback: 500,
    by: subgraphs,
    does: 'Spend limits of an organization.',
  }),
  platformCredentialsMicros: setting('PLATFORM_CREDENTIALS_MICROS_PER_MONTH', microsOrUnlimited, {
    fallback: null,
    without: '`5000000`; `unlimited` in the demo',
    by: subgraphs,
    does: "Micro-dollars that an organization may spend on models with the platform's credentials in a calendar month (UTC); of the organizations that one person founds, the first one only. `0`: nothing; `unlimited`: no limit. A spend limit of level PLATFORM and scope PLATFORM_CREDENTIALS sets it for one organization. See [Models on the platform's credentials](limits.md#models-on-the-platforms-credentials).",
  }),
  mailsFromPlatformADay: setting('PLATFORM_MAIL_RECIPIENTS_PER_DAY', quota, {
    fallback: 1_000,
    by: subgraphs,
    does: "Recipients to whom people and keys of an organization may write from the platform's domain in 24 hours, at most 20 mails each. Services and own domains are exempt.",
  }),
  profilesADay: setting('PERSON_PROFILES_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'Person profiles that one person may create in 24 hours.',
  }),
  sourcesADay: setting('PROFILE_SOURCES_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'Profile sources (at most 200,000 characters each) that one person may add in 24 hours.',
  }),
  snapshotsADay: setting('STYLE_SNAPSHOTS_PER_DAY', quota, {
    fallback: 5_000,
    by: subgraphs,
    does: 'Style snapshots that one person may take in 24 hours.',
  }),
}

/** For how many days records are kept. */
export const retention = {
  auditDays: setting('AUDIT_RETENTION_DAYS', days(1), {
    fallback: 400,
    by: subgraphs,
    does: 'Days for which audit entries are kept.',
  }),
  attemptDays: setting('ATTEMPT_RETENTION_DAYS', days(8), {
    fallback: 90,
    without: '`90`, at least `8`',
    by: subgraphs,
    does: 'Days for which delivery attempts are kept; those of undecided posts stay.',
  }),
}
