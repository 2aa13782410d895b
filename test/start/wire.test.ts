import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Packages of these names that are loaded after so many modules were. */
const loaded = (modules: readonly string[], packages: RegExp): string[] => {
  const script = `
    for (const module of ${JSON.stringify(modules)}) await import(module)
    const { createRequire } = await import('node:module')
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache).map(name => /node_modules.((?:@[^/\\\\]+.)?[^/\\\\]+)/.exec(name)?.[1])))`
  const names = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })) as string[]
  return [...new Set(names)].filter(name => packages.test(name ?? ''))
}

const database = /^(?:sequelize|pg|pg-boss)$/

test('a router’s process loads no database code in any mode', () => {
  const start = './router/start'
  expect(loaded([`${start}/mode/router.ts`, `${start}/mode/bare.ts`, `${start}/wire.ts`, `${start}/doors.ts`], database)).toEqual([])
  expect(loaded([`${start}/home.ts`], database)).toEqual(expect.arrayContaining(['sequelize', 'pg']))
})
