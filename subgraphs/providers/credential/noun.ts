import { createKeyCheck } from '../../store/key-check.ts'
import type { Viewer } from '../../viewer.ts'
import type { Base, Noun } from '../../wiring/define.ts'
import type { Context, Job } from '../context.ts'
import type { CredentialsInUse } from '../engines/third-party/credentials.ts'
import { credentialHandlers } from './handler.ts'
import { credentialResolvers } from './resolvers.ts'

interface At extends Base<Job, unknown> {
  readonly services: { readonly credentialsInUse: CredentialsInUse }
  readonly contexts: { forRequest(viewer: Viewer, request: Request): Context }
}

/** Credentials for third parties. */
export const credential: Noun<At> = {
  resolvers: credentialResolvers,
  handlers: ({ contexts }) => credentialHandlers(contexts.forRequest),
  sweeps: ({ job, foundation: { clock } }) => [
    {
      name: 'secrets whose grace is over',
      everyMs: 60_000,
      run: async () => void (await job('grace').credentials.forgetPrevious(clock.now())),
    },
  ],
  readiness: ({ foundation: { sequelize }, job, log }) => [
    createKeyCheck(sequelize, {
      table: 'providers.credentials',
      columns: [
        { column: 'secret', open: (id, secret) => job('keys').credentials.open({ id, secret }) },
        { column: 'previous_secret', open: (id, sealed) => job('keys').credentials.openPrevious(id, sealed) },
      ],
      consequence: 'credentials of providers cannot be used: their secrets were',
      log,
    }),
  ],
  stop: ({ services: { credentialsInUse } }) => credentialsInUse.settled(),
}
