import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { release } from '../../schema/released/accept.ts'
import { type ReleaseAge, releaseAge } from '../../schema/released/age.ts'
import { printMistake } from '../../schema/source/mistake.ts'
import { type Project, project } from './project.ts'

const day = 86_400
const beganAt = 1_760_000_000

const schema = (...fields: string[]) => `type Query {\n${fields.map(field => `  ${field}\n`).join('')}}\n`
const routes = (...paths: string[]) => JSON.stringify({ paths: Object.fromEntries(paths.map(path => [path, { get: { security: [], responses: {} } }])) })

function git(root: string, args: readonly string[], at = beganAt): void {
  const date = `${at} +0000`
  const identity = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b.test', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b.test' }
  execFileSync('git', args, { cwd: root, stdio: 'ignore', env: { ...process.env, ...identity, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } })
}

async function commit(at: Project, files: Readonly<Record<string, string>>, days: number): Promise<void> {
  for (const [file, text] of Object.entries(files)) await at.write(file, text)
  git(at.root, ['add', '-A'])
  git(at.root, ['commit', '-m', 'a change', '--allow-empty'], beganAt + days * day)
}

/** A repository whose API got `Query.added` and `GET /added` on day 1, without releasing them. */
async function repository(): Promise<Project> {
  const at = await project({})
  git(at.root, ['init', '--initial-branch=main'])
  const released = { 'schema/api.released.graphql': schema('old: Int'), 'schema/routes.released.json': routes('/old') }
  await commit(at, { ...released, 'schema/api.graphql': schema('old: Int'), 'schema/routes.json': routes('/old') }, 0)
  await commit(at, { 'schema/api.graphql': schema('old: Int', 'added(first: Int): Int'), 'schema/routes.json': routes('/old', '/added') }, 1)
  return at
}

const printed = ({ mistakes }: ReleaseAge) => mistakes.map(printMistake)

describe('releaseAge', () => {
  it('accepts unreleased fields and routes younger than seven days, and counts them', async () => {
    await using at = await repository()
    await commit(at, {}, 7.9)
    expect(await releaseAge(at.root)).toEqual({ mistakes: [], unreleased: 3, skipped: null })
  })

  it('names the field and the route, and the command that releases them, when they are seven days old', async () => {
    await using at = await repository()
    await commit(at, { 'schema/api.graphql': schema('old: Int', 'added(first: Int): Int', 'younger: Int') }, 8)
    expect(printed(await releaseAge(at.root))).toEqual([
      'schema/api.released.graphql:1:1 NOT_RELEASED 2 fields are older than 7 days and not released: Query.added and 1 more. Clients use them by now; npm run schema:release adds them to the released contract',
      'schema/routes.released.json:1:1 NOT_RELEASED 1 routes are older than 7 days and not released: GET /added. Clients use them by now; npm run schema:release adds them to the released contract',
    ])
  })

  it('passes when an old field was removed again', async () => {
    await using at = await repository()
    await commit(at, { 'schema/api.graphql': schema('old: Int'), 'schema/routes.json': routes('/old') }, 8)
    expect(await releaseAge(at.root)).toEqual({ mistakes: [], unreleased: 0, skipped: null })
  })

  it('passes after release', async () => {
    await using at = await repository()
    await commit(at, {}, 8)
    await release(at.root)
    expect(await releaseAge(at.root)).toEqual({ mistakes: [], unreleased: 0, skipped: null })
  })

  it('skips with a reason when a shallow clone does not reach back seven days', async () => {
    await using at = await repository()
    await commit(at, {}, 8)
    const clone = await mkdtemp(join(tmpdir(), 'shallow-'))
    try {
      git(tmpdir(), ['clone', '--depth', '1', `file://${at.root}`, clone])
      expect(await releaseAge(clone)).toEqual({ mistakes: [], unreleased: 3, skipped: 'a shallow clone: its history does not reach back 7 days' })
    } finally {
      await rm(clone, { recursive: true })
    }
  })

  it('skips with a reason when the project is no git repository', async () => {
    await using at = await project({ 'schema/api.graphql': schema('added: Int') })
    expect(await releaseAge(at.root)).toMatchObject({ mistakes: [], skipped: 'no git history here' })
  })
})

describe('release', () => {
  it('refuses, and changes nothing, when clients would lose a field', async () => {
    await using at = await repository()
    await at.write('schema/api.graphql', schema('added: Int'))
    await expect(release(at.root)).rejects.toThrow("schema:accept accepts that:\nField 'old' was removed")
    expect(await at.read('schema/api.released.graphql')).toBe(schema('old: Int'))
  })

  it('writes descriptions of no type, and a line for each type', async () => {
    await using at = await repository()
    await at.write('schema/api.graphql', `${schema('old: Int', 'added: Thing')}"A thing."\ntype Thing {\n  "Its name."\n  name: String\n}\n`)
    await release(at.root)
    expect(await at.read('schema/api.released.graphql')).toContain('  added: Thing\n}\ntype Thing { name: String }\n')
  })
})
