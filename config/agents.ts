import { address, text, webhookSecrets } from './readers.ts'
import { type Start, setting } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']

/** The parties outside that agents work with, and the model that their knowledge is searched with. */
export const agentsNeighbours = {
  settlementUrl: setting('SETTLEMENT_URL', address, {
    fallback: null,
    without: "actions that cross organizations cannot begin; the sandbox's in the demo",
    by: subgraphs,
    does: 'Address of the settlement and policy service, which decides on actions that cross organizations.',
  }),
  settlementSecrets: setting('SETTLEMENT_SIGNING_SECRETS', webhookSecrets, {
    fallback: null,
    without: "actions that cross organizations cannot begin; the sandbox's in the demo",
    by: subgraphs,
    does: 'Secrets that sign requests to that service and its decisions, comma-separated; the first signs, each is taken: `whsec_` and at least 24 random bytes in base64.',
  }),
  developersUrl: setting('DEVELOPERS_URL', address, {
    fallback: null,
    without: "no mobile apps are listed; the sandbox's in the demo",
    by: subgraphs,
    does: 'Address of the developer platform, which lists mobile apps.',
  }),
  embeddingModel: setting('AGENTS_EMBEDDING_MODEL', text, {
    fallback: null,
    without: 'passages of knowledge are found by their words alone',
    by: subgraphs,
    does: 'Model that makes vectors of passages and questions, so that knowledge is also found by meaning: a name of the catalogue of models, such as `openai/text-embedding-3-small`. Each organization pays for its own. With another model all passages get new vectors.',
  }),
}
