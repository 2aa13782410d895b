import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('docs/security/asvs.md', 'utf8')
const named = [...page.matchAll(/`(test\/[\w/-]+\.test\.ts)` “([^”]+)”/g)].map(([, file, sentence]) => ({ file: file!, sentence: sentence! }))

test('every test that the attacks page names exists, under the given name', () => {
  expect(named.length).toBeGreaterThan(50)
  const missing = named.filter(({ file, sentence }) => !existsSync(file) || !readFileSync(file, 'utf8').includes(sentence))
  expect(missing).toEqual([])
})
