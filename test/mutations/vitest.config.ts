import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

// Stryker is told nowhere else which tests it may ask: with its own option for that it switches a mutant on only after the sources were
// loaded, and whatever is computed while they load (constants, tables, arrow functions) would count as survived.
const asked = process.env.MUTATION_TESTS
if (!asked) throw new Error('MUTATION_TESTS names no tests: scripts/test-mutations.ts sets it')

export default defineConfig({ ...base, test: { ...base.test, include: JSON.parse(asked) } })
