import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { transactionLock } from '../../../platform/sql/lock.ts'

describe('transactionLock', () => {
  it('rejects a second lock with the same name', () => {
    transactionLock('tests.twice')
    expect(() => transactionLock('tests.twice')).toThrow('two advisory locks are called tests.twice')
  })

  it('locks another key for each name and each value', () => {
    const [one, other] = [transactionLock('tests.one'), transactionLock('tests.other')]
    expect(one.text).toContain(`'tests.one ' || $1`)
    expect(one.name).not.toBe(other.name)
  })
})

describe('advisory locks of subgraphs', () => {
  const sources = globSync('subgraphs/**/*.ts').map(path => ({ path, text: readFileSync(path, 'utf8') }))

  it('are taken by transactionLock and its neighbours only, because a hand-written key could equal another subgraph’s', () => {
    expect(sources.filter(({ text }) => /advisory/.test(text)).map(({ path }) => path)).toEqual([])
  })

  it('are named after their subgraph', () => {
    const locks = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/[tT]ransactionLock\w*\('([^']+)'/g)].map(([, name]) => ({ slug: path.split(/[\\/]/)[1], name: name! })),
    )
    expect(locks.length).toBeGreaterThan(20)
    expect(locks.filter(({ slug, name }) => !name.startsWith(`${slug}.`))).toEqual([])
  })
})
