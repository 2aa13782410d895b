import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const anId = /\b[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}\b/gi

/** Ids that are made up, for examples. */
const madeUp = /-0000-7000-8000-0{11}\d$|^0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e$/

test('P-22 no source, setting or asset contains a service’s id: it is looked up by slug', () => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
    .split('\0')
    .filter(file => file !== '' && !/^(?:test|bench|schema|examples)\//.test(file) && !/\.(?:woff2?|png|ico)$/.test(file))
  const found = files.flatMap(file => {
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(anId)].flatMap(([id]) => (madeUp.test(id) ? [] : [`${file}: ${id}`]))
  })
  expect(found).toEqual([])
  const settings = readFileSync(join(root, 'docs/operating/configuration.md'), 'utf8').match(/^\| `[A-Z_<>]+` /gm) ?? []
  expect(settings.filter(row => /SERVICE_ID|_UUID/.test(row))).toEqual([])
})
