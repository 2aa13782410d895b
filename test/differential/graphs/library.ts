import { monolith, library as parts } from '../../engine/library-graph.ts'
import type { PurposeGraph } from './graph.ts'

/** Lists of lists, unions, an interface object, requirements with arguments, entities that are gone, fields that fail. */
export const library: PurposeGraph = {
  parts,
  whole: monolith,
  values: {
    id: ['b1', 'b2', 'b3', 'a1', 'a2', 'none'],
    first: [1, 2, 3],
    atLeast: [null, 1, 3, 9],
    in: ['EUR', 'CENT'],
    input: [null, {}, { text: null }, { text: 'a', numbers: [1, 2] }],
  },
}
