import { address, atLeast, oneOf, origins, text, webhookSecrets } from './readers.ts'
import { type Start, setting } from './setting.ts'

const subgraphs: readonly Start[] = ['all', 'subgraph']
const everything: readonly Start[] = ['all', 'router', 'subgraph']

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

/** The chat that organizations offer to everybody. */
export const publicChat = {
  site: setting('PUBLIC_CHAT_SITE', text, {
    fallback: null,
    without: '`demo` in the demo, else none: 404',
    by: subgraphs,
    does: 'Slug of the organization whose public chat answers pages that name none.',
  }),
  origins: setting('PUBLIC_CHAT_ORIGINS', origins, {
    fallback: [],
    by: everything,
    does: 'Origins of other pages that may use the public chat, comma-separated. No credentials are taken from them.',
  }),
  challengeSecret: setting('CHALLENGE_SECRET', atLeast(32), {
    fallback: null,
    without: 'one that the processes share in their database',
    by: subgraphs,
    does: 'Signs the challenges of the public chat and of the marketing site. At least 32 characters. With another `CHALLENGE_PROVIDER` it is the secret key there.',
  }),
  challengeProvider: setting('CHALLENGE_PROVIDER', oneOf('altcha', 'turnstile', 'hcaptcha'), {
    fallback: 'altcha',
    by: subgraphs,
    does: 'Who challenges visitors of the public chat. `altcha`: the platform itself, by a proof of work. `turnstile` and `hcaptcha` need `CHALLENGE_SECRET` and `CHALLENGE_SITE_KEY`; while they do not answer, no chat begins. The chat that is put on pages by one script solves proofs of work alone.',
  }),
  challengeSiteKey: setting('CHALLENGE_SITE_KEY', text, {
    fallback: null,
    by: subgraphs,
    does: 'Key under which pages ask Turnstile or hCaptcha for a challenge.',
  }),
  challengeVerifyUrl: setting('CHALLENGE_VERIFY_URL', address, {
    fallback: null,
    without: "the provider's own; the sandbox's in the demo",
    by: subgraphs,
    does: 'Where solutions of Turnstile or hCaptcha are verified.',
  }),
}
