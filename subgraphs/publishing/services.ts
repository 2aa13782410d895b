import { createTurns } from '../../platform/jobs/turns.ts'
import { createLimit } from '../../platform/limit.ts'
import { createKeyCheck, type KeyCheck } from '../store/key-check.ts'
import type { Base } from '../wiring/define.ts'
import type { Job, Services } from './context.ts'
import { createReceiving } from './engines/media/receiving.ts'
import { turnsOfPictures } from './media/file/picture.ts'
import { imageRequests } from './media/image/generate.ts'
import { turnsOfOriginals } from './media/variant/variant.ts'
import { openApplications } from './network/account/applications.ts'
import { countDrift, measureDelivery } from './network/figures.ts'
import { loadAdapters } from './network/networks.ts'
import { webhookJobs } from './news/webhook/deliver.ts'
import { turnsOfTexts } from './post/problems.ts'
import { type PublishingSettings, registration } from './registration.ts'

const adapters = await loadAdapters()

/** The opened services, and the dependencies that only nouns use. */
export interface Opened extends Services {
  readonly webhooks: ReturnType<typeof webhookJobs>
}

type PublishingBase = Base<Job, PublishingSettings>

/** Creates publishing's services besides its stores. */
export function services(base: PublishingBase): Opened {
  const { foundation, settings, log, jobs, job } = base
  const { ask, call, cipher, clock, environment, events, outbound, callersWay, publicUrl, storage, metrics } = foundation
  const { applications: configured, whereabouts, quotas } = settings
  const applications = openApplications({ appId: registration.appId, adapters, configured, whereabouts, call, clock, log, outbound })
  return {
    ask,
    call,
    events,
    clock,
    publicUrl,
    outbound,
    storage: storage('publishing'),
    signatures: cipher,
    callersWay,
    receiving: createReceiving(),
    turns: createTurns(turnsOfPictures),
    originals: createTurns(turnsOfOriginals),
    texts: createTurns(turnsOfTexts),
    drawing: createLimit(imageRequests),
    findingTrends: new Map(),
    environment,
    applications,
    networks: applications.networks,
    deliveries: measureDelivery(metrics),
    sumsThatDrifted: countDrift(metrics),
    quotas,
    jobs,
    log,
    keys: keysOfConnections(base),
    renewals: new Map(),
    afterRenewals: new Set(),
    webhooks: webhookJobs(() => job('webhooks'), { clock, log }),
  }
}

/** Checks the keys that tokens of connections were sealed with. */
function keysOfConnections({ foundation: { sequelize }, job, log }: PublishingBase): KeyCheck {
  const open = (sealed: Partial<Record<'accessToken' | 'refreshToken' | 'placeTokens', string>> & { readonly id: string }) =>
    job('keys').connections.open({ accessToken: null, refreshToken: null, ...sealed })
  return createKeyCheck(sequelize, {
    table: 'publishing.connections',
    columns: [
      { column: 'access_token', open: (id, accessToken) => open({ id, accessToken }) },
      { column: 'refresh_token', open: (id, refreshToken) => open({ id, refreshToken }) },
      { column: 'place_tokens', open: (id, placeTokens) => open({ id, placeTokens }) },
    ],
    consequence: 'accounts cannot be used, and posts wait: tokens were',
    log,
  })
}
