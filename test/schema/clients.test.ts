import { readFileSync } from 'node:fs'
import * as typescript from '@graphql-codegen/typescript'
import { isScalarType, isSpecifiedScalarType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { wireScalars } from '../../codegen.ts'
import { readApi } from './graph.ts'

const { schema } = readApi()
const guide = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8')
/** The configuration that the guide tells client authors to write. */
const advised = parse(/```yaml\n([\s\S]*?)```/.exec(guide)![1]!).generates['src/graphql.ts'].config as {
  readonly strictScalars: boolean
  readonly scalars: Record<string, string>
}
const scalars = Object.values(schema.getTypeMap()).flatMap(type => (isScalarType(type) && !isSpecifiedScalarType(type) ? [type.name] : []))

describe('types that a client generates as the guide says', () => {
  test('know every scalar of the API, as it crosses the door', async () => {
    const { content } = (await typescript.plugin(schema, [], advised)) as { content: string }
    for (const scalar of scalars) expect(content).toContain(`${scalar}: { input: ${advised.scalars[scalar]}; output: ${advised.scalars[scalar]}; }`)
    expect(content).not.toMatch(/: (?:unknown|any)\b/)
    expect(content).toMatch(/export type Post = \{[^}]*\n {2}createdAt: Scalars\['DateTime'\]\['output'\];/)
  })

  test('are those with which the platform generates its own operations', () => {
    expect(wireScalars).toMatchObject(advised.scalars)
  })
})
