var e=[[847,847],[4447,4448],[6068,6069],[6155,6157],[6159,6159],[10240,10240],[12644,12644],[65024,65039],[65440,65440],[917760,917999]],t={"\b":`\\b`,"\f":`\\f`,"\n":`\\n`,"\r":`\\r`,"	":`\\t`},n=e.map(e=>e.map(e=>`\\u{${e.toString(16)}}`).join(`-`)).join(``),r=RegExp(`(?! )[\\p{C}\\p{Z}${n}]`,`u`),i=new RegExp(r,`gu`);function a(e){return e.replace(i,e=>t[e]??[...Array(e.length).keys()].map(t=>`\\u${e.charCodeAt(t).toString(16).padStart(4,`0`)}`).join(``))}function o(e){return e.split(`
`).map(a).join(`
`)}function s(e){return a(e.replaceAll(`\\`,`\\\\`))}function c(e){return e.split(`
`).map(s).join(`
`)}function l(e){return!r.test(e.replaceAll(/[\n\t]/g,``))}function u(e){return e.split(/(\n|\t)/).map(e=>e===`	`||e===`
`?e:a(e)).join(``)}export{o as a,a as i,s as n,u as o,c as r,l as t};