import { createKeyCheck } from '../../store/key-check.ts'
import type { Base, Noun } from '../../wiring/define.ts'
import type { Job } from '../context.ts'
import { domainResolvers } from './domain/resolvers.ts'
import { identityResolvers } from './identity/resolvers.ts'
import { messageResolvers } from './message/resolvers.ts'
import type { OpenEmail } from './open.ts'
import { suppressionResolvers } from './suppression/resolvers.ts'

interface At extends Base<Job, unknown> {
  readonly services: { readonly email: OpenEmail }
}

/** Mail: sender domains and identities, messages, and suppressions. */
export const emailNouns: Readonly<Record<string, Noun<At>>> = {
  domain: {
    resolvers: domainResolvers,
    readiness: ({ foundation: { sequelize }, job, log }) => [
      createKeyCheck(sequelize, {
        table: 'providers.sender_domains',
        columns: [{ column: 'private_key', open: (id, privateKey) => job('keys').senderDomains.openKey({ id, privateKey }) }],
        consequence: 'no mail leaves from domains whose signing keys were',
        log,
      }),
    ],
  },
  identity: { resolvers: identityResolvers },
  message: {
    resolvers: messageResolvers,
    queues: ({ services: { email } }) => [email.queue],
    sweeps: ({ services: { email } }) => email.sweeps,
    retention: ({ services: { email } }) => email.retentionRules,
    handlers: ({ services: { email } }) => email.handlers,
    close: ({ services: { email } }) => email.close(),
  },
  suppression: { resolvers: suppressionResolvers },
}
