import { type CodePurpose, codePurposes } from '../stores/code.ts'

/** Codes that stay valid: they verify an address, or belong to an invitation, which managers can see and revoke. */
const harmless: readonly CodePurpose[] = ['verify-email', 'invitation']

/**
 * Statements that end everything that gives access without a password, or leads to one, after restoring a backup: the
 * backup does not know what was ended, used or distrusted since. Otherwise signed-out sessions, used refresh tokens and
 * codes, and leaked signing keys would be valid again. Sessions come first.
 */
export const endSessionsSql: readonly { readonly table: string; readonly sql: string; readonly bind: readonly unknown[] }[] = [
  { table: 'identity.sessions', sql: 'delete from identity.sessions', bind: [] },
  { table: 'identity.codes', sql: 'delete from identity.codes where purpose = any($1)', bind: [codePurposes.filter(each => !harmless.includes(each))] },
  { table: 'identity.oauth_codes', sql: 'delete from identity.oauth_codes', bind: [] },
  { table: 'identity.signing_keys', sql: 'delete from identity.signing_keys', bind: [] },
]
