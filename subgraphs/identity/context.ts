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

/** Stores of identity, under the names that resolvers and set-up use. */
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

/** Quotas, so that one caller can neither fill the database nor search it for people. */
export interface Quotas {
  /** Organizations that one person may create in 24 hours, and in all. */
  readonly organizationsADay: number
  readonly organizationsAPerson: number
  /** Members of one organization. */
  readonly membersAnOrganization: number
  /**
   * Invitations created in 24 hours, by one organization and by one person in all organizations; and open ones of an
   * organization.
   */
  readonly invitationsADay: number
  readonly pendingInvitations: number
  /** Addresses that one person may try with `addMember` in an hour, found or not. */
  readonly additionsAnHour: number
  /** Valid API keys of one organization, and those created in 24 hours. */
  readonly keysAnOrganization: number
  readonly keysADay: number
}

/** Claims of an access token (RFC 7519), besides `iss` and `aud`. */
export interface Claims {
  /** The person. */
  readonly sub: string
  /** Id of the session: a token of a signed-out session is rejected although it has not expired. */
  readonly sid: string
  /** The active organization; absent in personal context. */
  readonly org?: string
  readonly ctx: 'personal' | 'organization'
  /** Roles within the active organization. */
  readonly roles: readonly string[]
  /**
   * Permissions by service, in the services' names: `{ "publishing": ["posts:read"] }`. The router uses the session
   * instead.
   */
  readonly permissions: Readonly<Record<string, readonly string[]>>
  /** The OAuth client that the token was given to; absent for sessions of people. */
  readonly client_id?: string
  /** Granted scopes, separated by spaces (RFC 8693 §4.2). */
  readonly scope?: string
  /** Seconds since 1970. */
  readonly iat: number
  /** Seconds since 1970. */
  readonly exp: number
}

/** Services of identity besides its stores, created once in `nouns/services.ts`. */
export interface Services {
  readonly clock: Clock
  readonly events: Events
  /** Environment whose services are shown. */
  readonly environment: string
  /** Returns a service's addresses in production, as a fallback, by its slug. */
  readonly production: (slug: string) => Promise<readonly ServiceAddress[]>
  /** Signs a token. @param audience its `aud` @default that of access tokens */
  readonly sign: (claims: Claims | Readonly<Record<string, unknown>>, audience?: string) => Promise<string>
  /** Returns the `Set-Cookie` lines of a session with its end. */
  readonly sessionCookies: (token: string, expiresAt: Date, now: Date) => readonly string[]
  /** Generates a pair of signing keys, which is used once it is stored. */
  readonly newSigningKey: (now: Date) => Promise<NewSigningKey>
  readonly quotas: Quotas
  /**
   * Counts an address that a person tries with `addMember`. @returns 0, or the milliseconds until the next one is
   * allowed
   */
  readonly countAddition: (userId: string) => Promise<number>
  readonly jobs: Jobs
  readonly mails: Mails
}

/** Context of resolvers: the viewer, and the rows that the viewer may see. */
export type Context = ContextOf<typeof stores, Services>

/** Context of queue jobs: the rows of all organizations, and all services. */
export type Worker = JobContextOf<typeof stores, Services>

/** Context of set-up, demo and registry: the rows of all organizations. */
export type Job = JobContextOf<typeof stores, object>
