import { render } from "preact";
render(<p>heapgauge</p>, document.getElementById("app")!);
