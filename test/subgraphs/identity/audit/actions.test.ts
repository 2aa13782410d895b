import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { auditRecording, targetTypes } from '../../../../subgraphs/identity/stores/audit-entry.ts'
import { factKinds } from '../../../../subgraphs/store/fact-kinds.ts'

const folder = 'subgraphs/identity'
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('.ts') && !path.endsWith('.generated.ts'))
  // Without the list itself, which would make every action a literal of somewhere.
  .map(path => readFileSync(join(folder, path), 'utf8').replace(/^export const targetTypes = \{[^}]*\}/m, ''))
const literals = new Set(sources.flatMap(source => [...source.matchAll(/['"`]([a-z_]+\.[a-z_]+)['"`]/g)].map(([, literal]) => literal!)))

test('every action that the record is to tell is written somewhere', () => {
  expect(Object.keys(targetTypes).filter(action => !literals.has(action))).toEqual([])
})

test('refuses an action that is not on the list', () => {
  const nouns = new Set(Object.keys(targetTypes).map(action => action.split('.')[0]!))
  // Facts have names of the same form.
  const strangers = [...literals].filter(literal => nouns.has(literal.split('.')[0]!) && !(literal in targetTypes) && !(literal in factKinds))
  expect(strangers).toEqual([])
  const entry = { tenantId: '', id: '', at: new Date(), actor: '', subjectId: '', details: {}, viewer: null }
  expect(() => auditRecording.values({ ...entry, action: 'api_key.lost' })).toThrow('api_key.lost is not on the list')
  expect(() =>
    auditRecording.values({ ...entry, action: 'api_key.created', details: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [at, at])) }),
  ).toThrow('at most 20 details')
})
