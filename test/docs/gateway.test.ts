import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describePlatform } from '../../router/openapi/platform.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const guide = read('docs/gateway.md')

test('the gateway guide names existing routes', () => {
  const { paths } = describePlatform().document
  // The document may choose the names of parameters.
  const known = new Set(
    Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map(method => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`)),
  )
  const named = [...guide.matchAll(/\b(GET|POST|PUT|DELETE) (\/providers\/[\w/{}-]+)/g)].map(
    ([, method, path]) => `${method} ${path!.replace(/\{\w+\}/g, '{}')}`,
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(route => !known.has(route))).toEqual([])
})

test('the gateway guide names existing mutations and queries', () => {
  const graph = read('schema/api.graphql')
  const named = [
    ...guide.matchAll(/`((?:create|update|add|verify|send|set|rotate|test)[A-Z]\w+|usage|providerCalls|providerApps|aiModels|emailSuppressions)[`(]/g),
  ].map(([, name]) => name!)
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter(name => !new RegExp(`^  ${name}(?:\\(|:)`, 'm').test(graph))).toEqual([])
})

test('the gateway guide’s JSON examples are valid', () => {
  const bodies = [...guide.matchAll(/-d '(\{.*\})'/g)].map(([, body]) => body!.replace(/'\$\w+'/g, 'x'))
  expect(bodies.length).toBeGreaterThan(4)
  for (const body of bodies) expect(() => JSON.parse(body)).not.toThrow()
})
