import type { FlattenNodePathSegment } from '@graphql-hive/router-query-planner'
import { type FieldNode, parse, visit } from 'graphql'
import { describe, expect, test } from 'vitest'
import { compilePlans } from '../../../router/engine/execute/compile.ts'
import { createKnownTypes } from '../../../router/engine/execute/known-types.ts'
import { createPlanTree, isSettled, type PlacedDocument } from '../../../router/engine/execute/plan-tree.ts'
import type { EntityStep, Step } from '../../../router/engine/execute/step.ts'
import { findOperation, type Operation } from '../../../router/engine/operation/operation.ts'
import { createPlanner } from '../../../router/engine/plan/planner.ts'
import { createNames } from '../../../router/engine/repairs/hive-response-keys/names.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { library } from '../library-graph.ts'
import { compose, testGraph } from '../supergraph-fixture.ts'

const supergraph = readSupergraph(compose(library))

/** `books.@.reviews` as a planner writes it; `|Book` is a condition. */
const path = (text: string): FlattenNodePathSegment[] =>
  text.split('.').map(word => (word === '@' ? '@' : word.startsWith('|') ? { TypeCondition: [word.slice(1)] } : { Field: word }))

const roots = (text: string): PlacedDocument => ({ document: parse(text, { noLocation: true }), entities: null, requires: [] })
const entities = (text: string, ...paths: string[]): PlacedDocument => ({
  document: parse(`query ($representations: [_Any!]!) { _entities(representations: $representations) ${text} }`, { noLocation: true }),
  entities: new Map([['_entities', paths.map(path)]]),
  requires: [],
})
const treeOf = (...placed: PlacedDocument[]) => createPlanTree(placed, supergraph)

describe('objects on a path are remembered only if a second walk meets the same ones', () => {
  const books = roots('{ books { id writers { id } } }')
  const reviews = entities('{ ... on Book { reviews { id author { id } } } }', 'books.@')

  test('where each object on the path comes from one fetch', () => {
    const tree = treeOf(books, reviews)
    for (const settled of ['books.@', 'books.@.writers.@', 'books.@.reviews.@', 'books.@.reviews.@.author'])
      expect(isSettled(path(settled), tree), settled).toBe(true)
  })

  test('not where a second fetch may add an object where the first had none, nor below', () => {
    const tree = treeOf(books, reviews, entities('{ ... on Book { reviews { id book { id } } } }', 'books.@'))
    expect(isSettled(path('books.@'), tree)).toBe(true)
    for (const open of ['books.@.reviews.@', 'books.@.reviews.@.author', 'books.@.reviews.@.book']) expect(isSettled(path(open), tree), open).toBe(false)
  })

  test('not where type names decide, which may become more precise', () => {
    const tree = treeOf(roots('{ found { __typename ... on Book { id writers { id } } } }'))
    expect(isSettled(path('found.@.|Book'), tree)).toBe(false)
    expect(isSettled(path('found.@.|Book.writers.@'), tree)).toBe(false)
    expect(isSettled(path('found.@.writers.@'), tree)).toBe(true)
  })

  test('not where nothing is known of the path', () => {
    expect(isSettled(path('books.@.lost'), treeOf(books))).toBe(false)
  })

  test('when one fetch starts from several places', () => {
    const tree = treeOf(roots('{ a: book(id: 1) { id } b: book(id: 2) { id } }'), entities('{ ... on Book { reviews { id } } }', 'a', 'b'))
    expect(isSettled(path('a.reviews.@'), tree)).toBe(true)
    expect(isSettled(path('b.reviews.@'), tree)).toBe(true)
  })
})

describe('the plan tree derives object types from the supergraph', () => {
  const typesAt = (text: string, ...placed: PlacedDocument[]) => [...treeOf(...placed).at(path(text)).types]

  test('by key, through fragments, of all documents', () => {
    const named = roots('{ latest { ...R } again: latest { b: book { id } } } fragment R on Review { author { ... on Author { id } } }')
    expect(typesAt('latest', named)).toEqual(['Review'])
    expect(typesAt('latest.author', named)).toEqual(['Author'])
    expect(typesAt('again.b', named)).toEqual(['Book'])
    expect(typesAt('found.@', roots('{ found { __typename } }'))).toEqual(['Found'])
    expect(
      typesAt('nodes.@.x', roots('{ nodes { ... on Book { x: writers { id } } } }'), entities('{ ... on Author { x: favourite { id } } }', 'nodes.@')),
    ).toEqual(['Author', 'Book'])
  })

  test('but a type name is fetched unless one object type is known wherever its fragment is spread', () => {
    const placed = [
      roots(
        '{ latest { ...R } found { __typename ... on Review { id ...R } ... on Book { author: id } } } fragment R on Review { __typename author { __typename id } }',
      ),
      roots('{ book(id: 1) { ... on Book { writers { __typename } } } nodes { favourite: likes __typename } }'),
    ]
    const tree = createPlanTree(placed, supergraph)
    const types = createKnownTypes(placed, tree, supergraph)
    const left = placed.map(({ document }) => {
      const names: FieldNode[] = []
      visit(types.withoutKnown(document), { Field: node => void (node.name.value === '__typename' && names.push(node)) })
      return names.length
    })
    // One of the union, one of the fragment that is spread there too; one that stands alone, one of the interface.
    expect(left).toEqual([2, 2])
    expect(types.at(path('latest'))).toBe('Review')
    expect(types.at(path('found.@.|Review.author'))).toBe('Author')
    expect(types.at(path('found.@'))).toBe(null)
    expect(types.at(path('nowhere'))).toBe(null)
  })
})

describe('compiled plans', () => {
  const planned = async (source: string) => {
    const plans = await createPlanner(supergraph).plan(findOperation(parse(source), undefined) as Operation, createNames(supergraph))
    return compilePlans(plans, supergraph)
  }
  const entitySteps = (step: Step | null): EntityStep[] =>
    !step || step.kind === 'fetch' ? [] : step.kind === 'entities' ? [step] : step.steps.flatMap(entitySteps)

  test('walk once for several fetches that start from the same objects, with the same result', async () => {
    const source = '{ books(first: 3) { id reviews { author { name likes } } } shelves { likes reviews { body } } }'
    const { root } = await planned(source)
    const memos = entitySteps(root).flatMap(({ groups }) => groups.flatMap(group => group.memos.filter(memo => memo !== null)))
    expect(new Set(memos).size).toBeLessThan(memos.length)
    const graph = testGraph(library)
    const first = await graph.run(source)
    for (let times = 0; times < 4; times++) expect(await graph.run(source)).toEqual(first)
    expect(first.errors).toBeUndefined()
    expect(first.data.shelves[0][0]).toEqual({ likes: 10, reviews: [{ body: 'good' }, { body: 'bad' }] })
    expect(first.data.books[0].reviews[1].author).toEqual({ name: 'Ada', likes: 30 })
  })

  test('remember nothing where only one fetch starts', async () => {
    const { root } = await planned('{ latest { author { name } } }')
    expect(entitySteps(root).flatMap(({ groups }) => groups.flatMap(group => group.memos))).toEqual([null])
  })
})
