/** How the chat looks on a page of somebody else: nothing of the page reaches it, and nothing of it reaches the page. */
export const look = `
:host { all: initial; position: fixed; inset-block-end: 1rem; inset-inline-end: 1rem; z-index: 2147483000; color-scheme: light dark; }
* { box-sizing: border-box; font: 400 0.875rem/1.25rem system-ui, sans-serif; }
[hidden] { display: none !important; }
button { min-block-size: 2.75rem; padding: 0.5rem 1rem; border: 1px solid transparent; border-radius: 6px; background: light-dark(#4338ca, #a6a1ff); color: light-dark(#fff, #15133b); font-weight: 600; cursor: pointer; }
button.quiet { min-block-size: 1.5rem; padding: 0.125rem 0.5rem; border-color: light-dark(#858591, #777785); background: none; color: light-dark(#18181d, #f1f1f4); font-weight: 500; }
:focus-visible { outline: 2px solid light-dark(#4338ca, #a6a1ff); outline-offset: 2px; }
section { display: grid; grid-template-rows: auto minmax(0, 1fr) auto; gap: 0.75rem; inline-size: min(22rem, calc(100vw - 2rem)); block-size: min(32rem, calc(100dvh - 2rem)); padding: 1rem; border: 1px solid light-dark(#d8d8df, #33333d); border-radius: 16px; background: light-dark(#fff, #19191f); color: light-dark(#18181d, #f1f1f4); box-shadow: 0 8px 24px rgb(0 0 0 / 0.14); }
header { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem; }
h2 { margin: 0; font-size: 1rem; font-weight: 600; }
.said { display: grid; align-content: start; gap: 0.75rem; margin: 0; padding: 0; overflow-y: auto; }
.said > div { display: grid; justify-items: start; gap: 0.25rem; min-inline-size: 0; }
.said > .you { padding: 0.5rem; border-radius: 10px; background: light-dark(#ececf0, #0b0b0e); }
p { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.small { color: light-dark(#55555f, #b3b3bf); font-size: 0.75rem; }
.wrong { color: light-dark(#b3232a, #ff9494); }
a { color: light-dark(#4338ca, #a6a1ff); }
form { display: grid; gap: 0.5rem; }
label { display: grid; gap: 0.25rem; font-weight: 500; }
textarea { min-block-size: 3.5rem; padding: 0.5rem; border: 1px solid light-dark(#858591, #777785); border-radius: 6px; background: light-dark(#fff, #19191f); color: inherit; resize: vertical; }
`
