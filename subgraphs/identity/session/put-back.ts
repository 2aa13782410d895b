import { type CodePurpose, codePurposes } from '../stores/code.ts'

/** Codes that go on: they prove an address, or belong to an invitation, which managers see and take back. */
const harmless: readonly CodePurpose[] = ['verify-email', 'invitation']

/**
 * Ends what opens the platform without a password, or leads to one: for a database that was put back from a backup, which does not know what was
 * ended, used up or distrusted since. A session that somebody signed out of, a refresh token or a code that was used and a signing key that had
 * leaked would all be good again. Sessions come first.
 */
export const endSessionsSql: readonly { readonly table: string; readonly sql: string; readonly bind: readonly unknown[] }[] = [
  { table: 'identity.sessions', sql: 'delete from identity.sessions', bind: [] },
  { table: 'identity.codes', sql: 'delete from identity.codes where purpose = any($1)', bind: [codePurposes.filter(each => !harmless.includes(each))] },
  { table: 'identity.oauth_codes', sql: 'delete from identity.oauth_codes', bind: [] },
  { table: 'identity.signing_keys', sql: 'delete from identity.signing_keys', bind: [] },
]
