import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codegen } from '@graphql-codegen/core'
import * as documents from '@graphql-codegen/typed-document-node'
import * as operations from '@graphql-codegen/typescript-operations'
import { isScalarType, isSpecifiedScalarType, parse as parseGraphql } from 'graphql'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { wireScalars } from '../../codegen.ts'
import { readApi } from './graph.ts'

const { schema, document } = readApi()
const guide = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')
/** What the guide tells client authors to write. */
const advised = parse(/```yaml\n([\s\S]*?)```/.exec(guide)![1]!).generates['src/graphql.ts'] as {
  readonly plugins: readonly string[]
  readonly config: { readonly strictScalars: boolean; readonly scalars: Record<string, string> }
}
const pluginMap = { 'typescript-operations': operations, 'typed-document-node': documents }
const scalars = Object.values(schema.getTypeMap()).flatMap(type => (isScalarType(type) && !isSpecifiedScalarType(type) ? [type.name] : []))
const project = new URL('../..', import.meta.url).pathname

const written = `
  query Posts($brandId: ID!) { posts(brandId: $brandId) { nodes { id status createdAt } totalCount } }
  mutation CreatePost($input: CreatePostInput!) { createPost(input: $input) { id copy scheduledAt } }
  subscription Told($brandId: ID!) { postStatusChanged(brandId: $brandId) { id status } }
`
const used = `
import { CreatePostDocument, type CreatePostMutationVariables, PostsDocument, ToldDocument } from './graphql.ts'
import type { ResultOf, VariablesOf } from '@graphql-typed-document-node/core'
export const variables: CreatePostMutationVariables = { input: { brandId: 'b', platform: 'X', copy: 'c', scheduledAt: '2030-01-01T00:00:00Z' } }
export const same: VariablesOf<typeof CreatePostDocument> = variables
export const made = (result: ResultOf<typeof CreatePostDocument>): string | null | undefined => result.createPost?.scheduledAt
export const told = (result: ResultOf<typeof ToldDocument>): string | undefined => result.postStatusChanged?.id
export const read = (result: ResultOf<typeof PostsDocument>): unknown => result.posts
// @ts-expect-error a brand is named by text
export const wrong: VariablesOf<typeof PostsDocument> = { brandId: 1 }
`

describe('types that a client generates as documented', () => {
  test('compile with a query, a mutation with an input and a subscription', async () => {
    const content = await codegen({
      schema: document,
      schemaAst: schema,
      filename: 'src/graphql.ts',
      documents: [{ location: 'src/all.graphql', document: parseGraphql(written) }],
      config: advised.config,
      plugins: advised.plugins.map(name => ({ [name]: {} })),
      pluginMap,
    })
    const folder = mkdtempSync(join(tmpdir(), 'client-'))
    try {
      writeFileSync(join(folder, 'graphql.ts'), content)
      writeFileSync(join(folder, 'used.ts'), used)
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
      symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'))
      const flags = ['--strict', '--noEmit', '--skipLibCheck', '--allowImportingTsExtensions', '--target', 'es2022', '--module', 'nodenext', '--types', '']
      const { stdout, status } = spawnSync(join(project, 'node_modules/.bin/tsc'), [...flags, 'graphql.ts', 'used.ts'], { cwd: folder, encoding: 'utf8' })
      expect([stdout, status]).toEqual(['', 0])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('know every scalar of the API', () => {
    expect(Object.keys(advised.config.scalars)).toEqual(expect.arrayContaining(scalars))
  })

  test('equal those with which the platform generates its own operations', () => {
    const { ID: _, ...rest } = advised.config.scalars
    expect(wireScalars).toMatchObject(rest)
  })
})
