import type { JobContextOf } from '../../store/context.ts'
import type { Base, Running } from '../../wiring/define.ts'
import type { Services, stores } from '../context.ts'
import { type Credentials, openCredentials } from '../credentials/open.ts'
import type { IdentitySettings } from '../credentials/settings.ts'
import { createForms, type Forms } from '../http/form.ts'
import { type OpenMails, openMails } from '../mail/open.ts'
import { createProduction } from '../service-entry/production.ts'
import { admit } from '../setup/foreign/people.ts'

/** Opened services, with those that only nouns need. */
export interface Opened extends Services {
  readonly credentials: Credentials
  readonly mail: OpenMails
  readonly forms: Forms
}

/** Identity as its nouns see it. */
export type At = Running<typeof stores, Opened, IdentitySettings>

const hourMs = 3_600_000

/** Creates identity's services besides its stores. */
export function services({ foundation, settings, log, jobs, job }: Base<JobContextOf<typeof stores, Opened>, IdentitySettings>): Opened {
  const { clock, environment, events, outbound, publicUrl } = foundation
  const { clientAddressHeader, foreignIssuer, quotas, registry } = settings
  const credentials = openCredentials(foundation, settings, log, async newcomer => {
    if (foreignIssuer) await admit(job('platform'), foreignIssuer.issuer, newcomer)
  })
  const mail = openMails(foundation, settings.mail, { jobs: () => jobs, log })
  return {
    clock,
    events,
    environment,
    production: createProduction(registry.production, outbound, clock, log),
    sign: credentials.sign,
    sessionCookies: credentials.sessionCookies,
    newSigningKey: credentials.newSigningKey,
    quotas,
    countAddition: async userId =>
      (await credentials.limits.take({ kind: 'addition', most: quotas.additionsAnHour, windowMs: hourMs }, userId, clock.now())).waitMs,
    jobs,
    mails: mail.mails,
    credentials,
    mail,
    forms: createForms({ publicUrl, clientAddressHeader }),
  }
}
