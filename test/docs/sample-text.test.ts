import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { draw, kinds, textsOf } from '../../scripts/sample-text.ts'

describe('sample-text', () => {
  it('reads the sentences of docstrings, tags apart', () => {
    expect(kinds.docstrings.read('/**\n * Returns the post,\n * newest first. Never fails.\n * @param id the id of it\n */')).toEqual([
      'Returns the post, newest first.',
      '@param id the id of it',
    ])
  })

  it('names tests with their groups', () => {
    expect(kinds.tests.read("describe('a post', () => {\n  it('is sent', () => {})\n})\ntest('alone', () => {})\n")).toEqual(['a post > is sent', 'alone'])
  })

  it('reads log messages, whatever fields precede them', () => {
    expect(kinds.logs.read("log.error({ err: error, key: rows['a-b'] }, 'fact not delivered')\nlog.info('started')")).toEqual(['fact not delivered', 'started'])
  })

  it('draws the same texts for the same seed, without repetition', () => {
    const numbers = Array.from({ length: 100 }, (_, at) => at)
    expect(draw(numbers, 60, 7)).toEqual(draw(numbers, 60, 7))
    expect(draw(numbers, 60, 7)).not.toEqual(draw(numbers, 60, 8))
    expect(new Set(draw(numbers, 100, 7)).size).toBe(100)
  })

  it('finds texts of every kind in this project', () => {
    for (const kind of ['docs', 'docstrings', 'comments', 'tests', 'logs'] as const)
      expect(textsOf(kind, join(import.meta.dirname, '../..')).length).toBeGreaterThan(100)
  })
})
