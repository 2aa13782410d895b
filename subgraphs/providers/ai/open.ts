import type { Logger } from 'pino'
import type { Handlers } from '../../http/handlers.ts'
import type { Foundation } from '../../subgraph.ts'
import type { Ai } from '../engines/models/engine.ts'
import type { Models } from '../engines/models/in-use.ts'
import type { Calls } from '../engines/spend/order.ts'
import type { Addresses } from '../engines/third-party/addresses.ts'
import type { CredentialsInUse } from '../engines/third-party/credentials.ts'
import type { AiTimes } from '../registration.ts'
import type { ClientDirectory } from '../stores/administration/clients.ts'
import { lendCalls } from '../stores/ai/call-rates.ts'
import type { PlatformOrganization } from '../stores/credential/platform.ts'
import { createAttempts } from './attempt/attempts.ts'
import { createCooldowns, createSharedCooldowns } from './attempt/cooldown.ts'
import { createUpstream } from './attempt/upstream.ts'
import { createCalls } from './call.ts'
import { chatHandler } from './chat/handler.ts'
import { openCounter } from './counting/counter.ts'
import { embeddingHandler } from './embedding/handler.ts'
import { createFigures } from './figures.ts'
import { imageHandler } from './image/handler.ts'
import { modelHandler, modelsHandler } from './model/handler.ts'
import { createAdmission } from './rate.ts'
import { transcriptionHandler } from './transcription/handler.ts'

/** Path prefix of OpenAI's protocol. */
const below = '/providers/api/ai'

/** Dependencies of model calls. */
export interface AiGround {
  readonly models: Models
  readonly calls: Calls
  readonly credentials: CredentialsInUse
  readonly clients: ClientDirectory
  readonly platformOrganization: PlatformOrganization
  readonly addresses: Addresses
  readonly times: AiTimes
  readonly log: Logger
}

/** Opens the model calls, for REST and for the graph. */
export function openAi(
  { clock, metrics, outbound, sequelize }: Pick<Foundation, 'clock' | 'metrics' | 'outbound' | 'sequelize'>,
  { models, calls, credentials, clients, platformOrganization, addresses, times, log }: AiGround,
): { readonly ai: Ai; readonly exchanges: Handlers; readonly stop: () => void } {
  const { stream } = outbound
  const figures = createFigures(metrics)
  const admit = createAdmission((...wanted) => lendCalls(sequelize, ...wanted), clock)
  const runAttempts = createAttempts({ clock, credentials, counted: figures.counted })
  const ownCooldowns = createCooldowns()
  const counter = openCounter()
  const ai: Ai = {
    makeCall: createCalls({
      models,
      calls,
      credentials,
      runAttempts,
      cooldowns: standing => (standing ? createSharedCooldowns(standing.rests, { sequelize, log }) : ownCooldowns),
      times,
      log,
      admit,
    }),
    upstream: createUpstream({ stream, addresses, times, clock }),
    count: counter.count,
    clock,
    clients,
    platformOrganization,
    stream,
  }
  const [chat, image, transcription] = [chatHandler(ai, figures), imageHandler(ai), transcriptionHandler(ai)]
  return {
    ai,
    // Costs of calls that end now must be written before the process ends, so they are not counted exactly.
    stop: counter.stop,
    exchanges: {
      [`POST ${below}/completions`]: chat,
      [`POST ${below}/chat/completions`]: chat,
      [`POST ${below}/images`]: image,
      [`POST ${below}/images/generations`]: image,
      [`POST ${below}/transcriptions`]: transcription,
      [`POST ${below}/audio/transcriptions`]: transcription,
      [`POST ${below}/embeddings`]: embeddingHandler(ai),
      [`GET ${below}/models`]: modelsHandler(models),
      [`GET ${below}/models/**`]: modelHandler(models, `${below}/models/`),
    },
  }
}
