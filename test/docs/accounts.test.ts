import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describePlatform } from '../../router/openapi/platform.ts'

const { document } = describePlatform()
const exchanges = globSync('subgraphs/identity/**/*.ts').flatMap(file =>
  [...readFileSync(file, 'utf8').matchAll(/\[`(GET|POST|PUT|DELETE) \$\{credentialsPath\}(\/[\w/-]+)`\]/g)].map(([, method, path]) => ({
    method: method!.toLowerCase(),
    path: `/identity/api/auth${path}`,
  })),
)

// One row of the router stands for all of them, so nothing else misses one that the document does not tell.
test('every account route is described in the REST document', () => {
  expect(exchanges.length).toBeGreaterThan(10)
  expect(exchanges.filter(({ method, path }) => !document.paths[path]?.[method])).toEqual([])
})
