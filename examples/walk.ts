import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { walkWithGraphqlRequest } from './clients/graphql-request.ts'
import { walkWithGraphqlSse } from './clients/graphql-sse.ts'
import { walkWithUrql } from './clients/urql.ts'
import { walkWithOpenapi } from './rest/walk.ts'
import { walkWithApollo } from './web-client/walk.ts'

// A newcomer's walk over a running platform with its demo world: `npm run walk -- http://localhost:4000`.
const url = (process.argv[2] ?? 'http://localhost:4000').replace(/\/$/, '')
const curl = async () => void (await promisify(execFile)('sh', [new URL('rest/curl.sh', import.meta.url).pathname, url]))

const walks: readonly (readonly [client: string, walk: (url: string) => Promise<void>])[] = [
  ['Apollo Client 4', url => walkWithApollo(url)],
  ['Apollo Client 4, subscriptions over multipart', url => walkWithApollo(url, 'multipart')],
  ['graphql-sse', walkWithGraphqlSse],
  ['urql', walkWithUrql],
  ['graphql-request', walkWithGraphqlRequest],
  ['openapi-fetch with types of openapi-typescript', walkWithOpenapi],
  ['curl', curl],
]

let failed = 0
for (const [client, walk] of walks) {
  try {
    await walk(url)
    console.log(`ok    ${client}`)
  } catch (error) {
    failed++
    console.error(`FAIL  ${client}:`, error)
  }
}
console.log(`${walks.length - failed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
