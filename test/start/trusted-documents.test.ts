import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { shop } from '../engine/remote/parts.ts'
import { serveSubgraph } from '../engine/remote/remote-graph.ts'
import { compose } from '../engine/supergraph-fixture.ts'
import { freePort, launch, readyLine, until } from '../kit/launch.ts'
import { runFolderVariable } from '../kit/run/folder.ts'

const folder = mkdtempSync(join(process.env[runFolderVariable]!, 'trusted-'))
const subgraphs = await Promise.all([serveSubgraph(shop.catalogue), serveSubgraph(shop.stock)])
afterAll(() => Promise.all(subgraphs.map(subgraph => subgraph.stop())))

const write = (name: string, text: string): string => {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}
const supergraph = write('shop.graphql', compose(shop).replace('http://catalogue.invalid', subgraphs[0].url).replace('http://stock.invalid', subgraphs[1].url))
const schema = write('api.graphql', 'type Query { name: String total: Int products: [Product] } type Product { name: String count: Int }')

/** `npm run documents`, from the folder of the files. */
async function documents(...words: string[]) {
  const run = launch(process.execPath, ['scripts/documents/documents.ts', ...words], { INIT_CWD: folder })
  return { status: await run.ended, said: run.said(), complained: run.complained() }
}

test('S-09 a router with trusted documents only answers those that npm run documents found in a client, and its next version as soon as it is written', async () => {
  mkdirSync(join(folder, 'client', 'node_modules'), { recursive: true })
  write('client/parts.graphql', 'fragment Part on Product { name ...Counted }')
  write('client/node_modules/foreign.graphql', 'query Foreign { name }')
  write(
    'client/page.tsx',
    `import { gql } from '@apollo/client'
     import { Part } from './parts.graphql'
     const Counted = gql\`fragment Counted on Product { count }\`
     export const Page = gql\`query Page { products { ...Part } } \${Part} \${Counted}\`
     export const page = <p>no \`template\` of ours</p>`,
  )
  const made = await documents('client/**/*.{graphql,tsx}', '--schema', schema, '--out', 'documents.json')
  expect(made).toMatchObject({ status: 0, said: expect.stringContaining('1 operations of 2 files'), complained: '' })
  const file = join(folder, 'documents.json')
  const { operations } = JSON.parse(readFileSync(file, 'utf8'))
  expect(operations).toEqual([
    {
      id: expect.stringMatching(/^[\da-f]{64}$/),
      name: 'Page',
      type: 'query',
      body: expect.stringMatching(/^query Page[\s\S]*fragment Counted[\s\S]*fragment Part/),
    },
  ])

  const port = String(await freePort())
  const settings = { TRUSTED_DOCUMENTS: 'only', TRUSTED_DOCUMENTS_FILE: file, LOG_LEVEL: 'info', npm_lifecycle_event: 'start' }
  const router = launch(process.execPath, ['router/main.ts', 'router', '--supergraph', supergraph, '--port', port], settings)
  const [, url = ''] = await router.printed(readyLine)
  const post = async (body: object) =>
    (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })).json() as Promise<{
      data?: unknown
      errors?: { extensions: { code: string } }[]
    }>
  const codeOf = async (body: object) => (await post(body)).errors?.[0]?.extensions.code
  try {
    expect(await post({ documentId: operations[0].id })).toMatchObject({ data: { products: [{ name: 'Pen', count: 2 }, {}] } })
    expect(await codeOf({ query: '{ name }' })).toBe('PERSISTED_QUERY_REQUIRED')

    write('client/page.tsx', 'const name = gql`query Name { name }`')
    // Writes a new file and renames it over the old one, as deployment tools do.
    await documents('client/*.tsx', '--schema', schema, '--out', 'next.json')
    const [next] = JSON.parse(readFileSync(join(folder, 'next.json'), 'utf8')).operations
    renameSync(join(folder, 'next.json'), file)
    await until('the next version is answered', async () => (await codeOf({ documentId: next.id })) === undefined)
    expect(await codeOf({ documentId: operations[0].id })).toBe('PERSISTED_QUERY_REQUIRED')

    writeFileSync(file, '{ "format": "another"')
    await until('the log says so', () => /former trusted documents stay in use/.test(router.said()))
    expect(router.said().match(/.*the former trusted documents stay in use.*/g)).toEqual([
      expect.stringMatching(/TRUSTED_DOCUMENTS_FILE: .*documents\.json cannot be read: it is not JSON/),
    ])
    expect(await codeOf({ documentId: next.id })).toBeUndefined()
  } finally {
    router.child.kill('SIGTERM')
    await router.ended
  }
})

test('S-09 npm run documents reports mistakes, a line each, and writes nothing then', async () => {
  mkdirSync(join(folder, 'wrong'))
  write('wrong/a.graphql', 'query Same { name } query Twice { name } { total }')
  write('wrong/b.graphql', 'query Same { name } query Twice { total } query Gone { gone }')
  write('wrong/c.graphql', 'query {{')
  write('wrong/d.graphql', 'type Query { a: Int }')
  write('wrong/e.graphql', 'query Spread { products { ...Nowhere } }')
  const { status, complained } = await documents('wrong/*', '--schema', schema, '--out', 'wrong.json')
  expect(status).toBe(1)
  expect(complained.trim().split('\n').sort()).toEqual([
    expect.stringContaining('wrong/a.graphql: an operation has no name'),
    expect.stringContaining('wrong/b.graphql: Gone: Cannot query field "gone"'),
    expect.stringContaining('wrong/b.graphql: Twice is something else in wrong/a.graphql'),
    expect.stringContaining('wrong/c.graphql: Syntax Error'),
    expect.stringContaining('wrong/d.graphql: holds types'),
    expect.stringContaining('wrong/e.graphql: Spread: Unknown fragment "Nowhere"'),
  ])
  expect(existsSync(join(folder, 'wrong.json'))).toBe(false)
  for (const [words, sentence] of [
    [['nowhere/*', '--schema', schema], /no GraphQL stands in nowhere/],
    [[], /npm run documents -- GLOB/],
    [['wrong/*', '--unknown'], /Unknown option/],
    [['wrong/*', '--schema', 'nowhere.graphql'], /ENOENT/],
  ] as const)
    expect(await documents(...words)).toMatchObject({ status: 1, complained: expect.stringMatching(sentence) })
})

test('S-09 with --typename each object selects its type, as Apollo Client does', async () => {
  mkdirSync(join(folder, 'apollo'))
  write('apollo/a.graphql', 'query Apollo { products { ...Line } } fragment Line on Product { name }')
  await documents('apollo/*', '--schema', schema, '--out', 'apollo.json', '--typename')
  const [{ body }] = JSON.parse(readFileSync(join(folder, 'apollo.json'), 'utf8')).operations
  expect(body.replaceAll(/\s+/g, ' ').trim()).toBe('query Apollo { products { ...Line __typename } } fragment Line on Product { name __typename }')
})

test('S-09 a router with unreadable trusted documents does not start, and says why', async () => {
  const start = (more: Record<string, string>) =>
    launch(process.execPath, ['router/main.ts', 'router', '--supergraph', supergraph, '--port', '0'], { PUBLIC_URL: 'http://localhost', ...more })
  for (const [more, words] of [
    [{ TRUSTED_DOCUMENTS: 'only' }, /TRUSTED_DOCUMENTS: only needs TRUSTED_DOCUMENTS_FILE/],
    [{ TRUSTED_DOCUMENTS: 'log', TRUSTED_DOCUMENTS_FILE: join(folder, 'nowhere.json') }, /TRUSTED_DOCUMENTS_FILE: .*nowhere\.json cannot be read: ENOENT/],
    [{ TRUSTED_DOCUMENTS_FILE: supergraph }, /TRUSTED_DOCUMENTS_FILE: .*shop\.graphql cannot be read: it is not JSON/],
  ] as const) {
    const run = start(more)
    expect(await run.ended).toBe(1)
    expect(run.complained()).toMatch(words)
  }
})
