import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { publicCodes } from '../../router/access/refusal.ts'

test('every error code for clients is documented', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/failures.md'), 'utf8')
  expect(publicCodes.filter(code => !guide.includes(`\`${code}\``))).toEqual([])
})
