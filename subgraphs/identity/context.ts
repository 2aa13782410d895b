import type { Clock } from '../../platform/clock.ts'
import type { Events } from '../../platform/events.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Mails } from './mail/send.ts'
import { accountStore } from './stores/account/account.ts'
import { recoveryEmailStore } from './stores/account/recovery-email.ts'
import { accountRequestStore } from './stores/account/request.ts'
import { setupLinkStore } from './stores/account/setup-link.ts'
import { apiKeyStore } from './stores/api-key.ts'
import { accountEntryStore, auditEntryStore } from './stores/audit-entry.ts'
import { codeStore } from './stores/code.ts'
import { handoffStore } from './stores/credentials/handoff.ts'
import { oauthClientStore } from './stores/credentials/oauth-client.ts'
import { oauthConsentStore } from './stores/credentials/oauth-consent.ts'
import { oauthGrantStore } from './stores/credentials/oauth-grant.ts'
import { type NewSigningKey, signingKeyStore } from './stores/credentials/signing-key.ts'
import { invitationStore, receivedInvitationStore } from './stores/invitation.ts'
import { everyMembershipStore, membershipStore, ownMembershipStore } from './stores/membership.ts'
import { invitingOrganizationStore, listedOrganizationStore, organizationStore } from './stores/organization.ts'
import { type ServiceAddress, serviceEntryStore } from './stores/service-entry.ts'
import { sessionStore } from './stores/session.ts'
import { everyUserStore, userStore } from './stores/user.ts'

/** What identity keeps, each store under the name by which resolvers and set-up know it. */
export const stores = {
  users: userStore,
  everyUser: everyUserStore,
  organizations: organizationStore,
  listedOrganizations: listedOrganizationStore,
  invitingOrganizations: invitingOrganizationStore,
  invitations: invitationStore,
  receivedInvitations: receivedInvitationStore,
  memberships: membershipStore,
  everyMembership: everyMembershipStore,
  ownMemberships: ownMembershipStore,
  apiKeys: apiKeyStore,
  serviceEntries: serviceEntryStore,
  sessions: sessionStore,
  signingKeys: signingKeyStore,
  setupLinks: setupLinkStore,
  codes: codeStore,
  auditEntries: auditEntryStore,
  accountEntries: accountEntryStore,
  handoffs: handoffStore,
  oauthClients: oauthClientStore,
  oauthConsents: oauthConsentStore,
  oauthGrants: oauthGrantStore,
  accounts: accountStore,
  accountRequests: accountRequestStore,
  recoveryEmails: recoveryEmailStore,
}

/** How much may be made, so that one caller cannot fill the database or search it for people. */
export interface Quotas {
  /** Organizations that one person creates in 24 hours, and has created in all. */
  readonly organizationsADay: number
  readonly organizationsAPerson: number
  /** Members of one organization. */
  readonly membersAnOrganization: number
  /** Invitations that are made in 24 hours, of one organization and by one person in all organizations; and those of an organization that wait. */
  readonly invitationsADay: number
  readonly pendingInvitations: number
  /** Addresses that one person tries with `addMember` in an hour, found or not. */
  readonly additionsAnHour: number
  /** API keys of one organization that stand (neither revoked nor expired), and that are created in 24 hours. */
  readonly keysAnOrganization: number
  readonly keysADay: number
}

/** What an access token says (RFC 7519), beside `iss` and `aud`. */
export interface Claims {
  /** The person. */
  readonly sub: string
  /** The session: a token of a session that was signed out is refused although it has not expired. */
  readonly sid: string
  /** The active organization; absent in personal context. */
  readonly org?: string
  readonly ctx: 'personal' | 'organization'
  /** Roles within the active organization. */
  readonly roles: readonly string[]
  /** What may be done, by service, as the services call it: `{ "publishing": ["posts:read"] }`. The router goes by the session instead. */
  readonly permissions: Readonly<Record<string, readonly string[]>>
  /** The OAuth client that the token was given to; absent for sessions of people. */
  readonly client_id?: string
  /** What it was granted, separated by spaces (RFC 8693 §4.2). */
  readonly scope?: string
  /** Seconds since 1970. */
  readonly iat: number
  /** Seconds since 1970. */
  readonly exp: number
}

/** What identity works with besides: made once in `definition.ts`. */
export interface Services {
  readonly clock: Clock
  readonly events: Events
  /** Whose registry of services is shown. */
  readonly environment: string
  /** Where a service is found in production, to fall back on: by its slug. */
  readonly production: (slug: string) => Promise<readonly ServiceAddress[]>
  /** Signs a token. @param audience its `aud` @default that of access tokens */
  readonly sign: (claims: Claims | Readonly<Record<string, unknown>>, audience?: string) => Promise<string>
  /** The `Set-Cookie` lines that give a browser a session which ends then. */
  readonly sessionCookies: (token: string, expiresAt: Date, now: Date) => readonly string[]
  /** Makes a pair of keys to sign with, which counts when it is kept. */
  readonly newSigningKey: (now: Date) => Promise<NewSigningKey>
  readonly quotas: Quotas
  /** Counts an address that a person tries with `addMember`. @returns 0, or the milliseconds until the next may be tried */
  readonly countAddition: (userId: string) => Promise<number>
  readonly jobs: Jobs
  readonly mails: Mails
}

/** What resolvers receive: who asks, and what they may see. */
export type Context = ContextOf<typeof stores, Services>

/** What jobs of the queues work with: everybody's rows, and all services. */
export type Worker = JobContextOf<typeof stores, Services>

/** What set-up, demo and registry work with: everybody's rows. */
export type Job = JobContextOf<typeof stores, object>
