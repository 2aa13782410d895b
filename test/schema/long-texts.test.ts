import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { limits as ofRuns } from '../../subgraphs/agents/engines/run/plan.ts'
import { most as ofSource } from '../../subgraphs/agents/profile/profile-source/rules.ts'
import { longestPrompt } from '../../subgraphs/providers/engines/spend/prompts.ts'
import { most as ofImage } from '../../subgraphs/publishing/media/image/generate.ts'
import { longestCopy } from '../../subgraphs/publishing/post/rules.ts'

const { costs } = readSupergraph(readFileSync(join(import.meta.dirname, '../../schema/supergraph.graphql'), 'utf8'))

/** Characters that weigh as much as an object. */
const perWeight = 10_000

/** The most characters that the rules of the domain let each text have that may be longer than that. */
const rules: Readonly<Record<string, number>> = {
  'ProfileSource.text': ofSource.text,
  'Report.text': ofRuns.jsonBytes,
  'ReportVersion.text': ofRuns.jsonBytes,
  'ProviderCall.prompt': longestPrompt,
  'GeneratedImage.prompt': ofImage.prompt,
  'Post.copy': longestCopy,
  'PostVersion.copy': longestCopy,
  // Model output has no length rule: a long answer counts like a long prompt.
  'Completion.content': longestPrompt,
  'Transcription.text': longestPrompt,
}

describe('a field with a text of more than ten thousand characters', () => {
  it.each(Object.entries(rules))('has a weight of one for each ten thousand: %s may have %i', (coordinate, characters) => {
    expect(characters).toBeGreaterThan(perWeight)
    expect(costs.fields.get(coordinate)).toBe(Math.ceil(characters / perWeight))
  })
})
