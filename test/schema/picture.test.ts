import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const folders = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !/^(?:node_modules|coverage|dist|\..*)$/.test(entry.name))
    .map(({ name }) => name)

test('the picture in README.md shows every folder of the project, its router, its subgraphs and their nouns', () => {
  const [, picture = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('## Layout')[1]!.split('```')
  const shown = new Set(picture.match(/[\w-]+/g))
  const subgraphs = folders('subgraphs')
  const rooms = [...folders('.'), ...folders('router'), ...subgraphs, ...subgraphs.flatMap(slug => folders(`subgraphs/${slug}`))]
  expect(rooms.filter(room => !shown.has(room))).toEqual([])
})
