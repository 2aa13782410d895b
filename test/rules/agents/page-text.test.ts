import { assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { textOfPage } from '../../../subgraphs/agents/engines/page/page-text.ts'

test.each([
  ['<html><head><title>T</title></head><body><h1>Hello</h1><p>One  <b>two</b>\nthree.</p><p>Four</p></body></html>', 'Hello\n\nOne two three.\n\nFour'],
  ['a<script>if (a < b) { "</p>" }</script>b<style>p { }</style>c<!-- d > --> e', 'abc e'],
  ['x &lt; y &amp;&amp; &#228;&#xe4;&hellip; &unknown; &#0;', 'x < y && ää… &unknown;'],
  ['1 < 2 and 3', '1 < 2 and 3'],
  ['one<br>two<li>three', 'one\n\ntwo\n\nthree'],
  ['before<script>never closed', 'before'],
  ['before<p unclosed', 'before'],
])('of %j people read %j', (page, text) => {
  expect(textOfPage(page)).toBe(text)
})

test('whatever a page holds, its text can be had, and a page that opens a million times is read in one go', () => {
  assert(property(string(), page => typeof textOfPage(page) === 'string'))
  expect(textOfPage('<script>'.repeat(130_000))).toBe('')
  expect(textOfPage('<!--'.repeat(250_000))).toBe('')
  expect(textOfPage('<a '.repeat(300_000))).toBe('')
})
